#!/bin/sh
# distributed 2026.8.0 (Dask): `client.submit(f, x, workers=b)` does not run on b, and nothing says
# so, while a result of f(x) that was submitted to another worker is kept.
#
# A call is known by its function and its arguments, not by where it has to run. The second call is
# therefore taken for the first, and its `workers` has no effect, even though allow_other_workers is
# off. A probe that measures the same function on each worker in turn measures one worker. With
# `pure=False` every call is one of its own.
#
# Output seen (Python 3.11):
#   submitted to 0 and to 1: run on 0 and 0
#   submitted to 0 and to 1 with pure=False: run on 0 and 1
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q distributed==2026.8.0 dask==2026.8.0
cat > "$folder/where.py" <<'PYTHON'
from distributed import Client, LocalCluster, get_worker


def where(_: int) -> int:
    return get_worker().name


if __name__ == "__main__":
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        addresses = [cluster.workers[name].address for name in (0, 1)]
        for settings in ({}, {"pure": False}):
            futures = []
            for address in addresses:
                futures.append(client.submit(where, 7, workers=[address], **settings))
                futures[-1].result()
            found = client.gather(futures)
            text = " with pure=False" if settings else ""
            print(f"submitted to 0 and to 1{text}: run on {found[0]} and {found[1]}")
            assert found == ([0, 1] if settings else [0, 0]), "this has changed"
            del futures
PYTHON
cd "$folder"
venv/bin/python where.py
