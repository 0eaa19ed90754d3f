"""Reproduction of one try of the campaign: a command line with a bad file, run as in a shell.

python -m benchmarks.hardening.campaigns.command_line READER NUMBER [SEED]
"""

import sys

from benchmarks.hardening.campaigns.command_line.campaign import ready
from benchmarks.hardening.campaigns.command_line.execution import run_process


def main() -> int:
    """Run one command line, and print its output and exit code."""
    name, number, *seed = sys.argv[1:]
    seed_value = int(seed[0]) if seed else 0
    with ready() as (cases, _, _), cases.case(name, int(number), seed_value) as case:
        ended = run_process(case)
        print(*case.words)
        print(ended.err or ended.out)
        print(f"exit code {ended.code}, added files {case.added_files()}")
    return ended.code


if __name__ == "__main__":
    sys.exit(main())
