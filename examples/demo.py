"""The main workflow on the command line: generate, compare placers, place, score, export.

    make demo

Every command is printed before it runs. Output files go to demo-output/.
"""

import shlex
import sys
from pathlib import Path

from streamplace.cli.main import main

FOLDER = Path("demo-output")
PLACERS = (  # as many as the plots show
    "metis,metis-oracle,fuser-oracle,policy:samples=16,search:evaluations=20000,auto:seconds=0.1"
)
COMMANDS = (
    f"generate dream --count 200 --seed 1 -o {FOLDER}/dream.jsonl.gz",
    f"info {FOLDER}/dream.jsonl.gz",
    f"compare {FOLDER}/dream.jsonl.gz --placers {PLACERS} --source-rate 1e4,2e4"
    f" --model path-average -o {FOLDER}/comparison",
    "compare dataset:real --devices 3x2500 --placers single,metis,fuser,greedy,policy,auto",
    "place dataset:real/riotbench-train.json --placer policy:samples=16"
    f" -o {FOLDER}/placement.json",
    f"simulate dataset:real/riotbench-train.json {FOLDER}/placement.json --source-rate 20",
    f"export {FOLDER}/placement.json --to csv -o {FOLDER}/mapping.csv",
)


def demo() -> int:
    """Run the commands; return the first exit code that is not 0."""
    FOLDER.mkdir(exist_ok=True)
    for command in COMMANDS:
        print(f"\n$ streamplace {command}", flush=True)
        if code := main(shlex.split(command)):
            return code
    print(f"\n$ cat {FOLDER}/mapping.csv\n{(FOLDER / 'mapping.csv').read_text()}")
    print("pictures:", *sorted(map(str, FOLDER.glob("comparison/*.png"))))
    return 0


if __name__ == "__main__":
    sys.exit(demo())
