"""The Java helper as text; test_java_helper.py compiles and runs it."""

from streamplace.integrations.flink.helper import helper_source
from streamplace.integrations.registry import export_text
from tests.support.chain_placement import chain_placement


def test_helper_is_one_class_without_a_package() -> None:
    source = export_text(chain_placement(["a"], [0], {}), "flink-helper")
    assert source == helper_source()
    assert "public final class StreamplaceMapping" in source
    assert "package " not in source
    assert source.count("{") == source.count("}")
