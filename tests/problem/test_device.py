"""Prices of devices: checks, files and hashes."""

import json
from pathlib import Path

import pytest

from streamplace import Cluster, Device, Problem, read_cluster
from streamplace.errors import ClusterError, FormatError
from streamplace.files.clusters import cluster_to
from streamplace.files.summary import summary
from streamplace.problem.symmetry import interchangeable
from tests.support.graphs import chain_graph


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf"), "1"])
def test_invalid_prices_are_refused(price: object) -> None:
    with pytest.raises(ClusterError, match="device 'd': price"):
        Device("d", 1000.0, price=price)  # type: ignore[arg-type]


def test_files_keep_prices_and_stay_as_they_were_without(tmp_path: Path) -> None:
    cluster = Cluster([Device("a", 1.0, price=0.0), Device("b", 1.0, price=2.5), Device("c", 1.0)])
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(cluster_to(cluster)))
    assert read_cluster(file) == cluster
    assert summary(file)["prices"] == {"a": 0.0, "b": 2.5}
    plain = Cluster([Device("a", 1.0)])
    assert "price" not in json.dumps(cluster_to(plain)) + repr(plain.devices[0])
    file.write_text(json.dumps(cluster_to(plain)))
    assert "prices" not in summary(file)


def test_a_file_with_a_negative_price_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text('{"devices": [{"name": "a", "mips": 1, "price": -1}]}')
    with pytest.raises(FormatError, match=r"devices\[0\].price"):
        read_cluster(file)


def test_devices_of_different_prices_are_interchangeable_in_placements() -> None:
    cluster = Cluster([Device("a", 1000.0, price=1.0), Device("b", 1000.0, price=2.0)])
    assert interchangeable(Problem(chain_graph(1.0), cluster)).tolist() == [0, 0]
