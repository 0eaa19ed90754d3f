"""Names of operators in compiled plans."""

from streamplace.engines.flink.compiled_plan import distinct


def test_repeated_names_are_numbered() -> None:
    assert distinct(["Map", "Map", "Map#2", "", "Map", ""]) == [
        "Map",
        "Map#3",
        "Map#2",
        "unnamed",
        "Map#4",
        "unnamed#2",
    ]
