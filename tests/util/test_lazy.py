"""Names of packages that are loaded when they are first used."""

import pytest

from streamplace import files
from streamplace.files.clusters import read_cluster
from streamplace.util.lazy import lazily


def test_a_name_is_loaded_from_its_module() -> None:
    load, names = lazily("streamplace.files", {"read_cluster": "clusters"})
    assert load("read_cluster") is read_cluster
    assert vars(files)["read_cluster"] is read_cluster  # so the next use loads nothing
    assert names() == ["read_cluster"]


def test_other_names_are_no_attributes() -> None:
    load, _ = lazily("streamplace.files", {})
    with pytest.raises(AttributeError, match="has no attribute 'read_cluster'"):
        load("read_cluster")
