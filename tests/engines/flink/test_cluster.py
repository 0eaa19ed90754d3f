"""What Flink says of a cluster: its durations, as Flink 2.3.0 reads them, and versions."""

import pytest

from streamplace.engines.flink.cluster import (
    TRIED,
    WITH_LABELS,
    faults_in_place,
    faults_of_labels,
    faults_of_version,
    minor_of,
    seconds_of,
)
from streamplace.errors import UsageError


@pytest.mark.parametrize("version", [*(f"{minor}.0" for minor in TRIED), "2.3-SNAPSHOT", "1.20.5"])
def test_a_version_that_was_tried(version: str) -> None:
    assert not [*faults_of_version(version)]


@pytest.mark.parametrize(
    "version", ["1.16.3", "1.2.3", "2.30.0", "2.4-SNAPSHOT", "3.0.0", "2", "2.x", "<unknown>"]
)
def test_a_version_that_was_not_tried(version: str) -> None:
    (fault,) = faults_of_version(version)
    assert fault.startswith(f"Flink {version} is none of the versions that streamplace was run on")
    assert f"{TRIED[-2]} and {TRIED[-1]}" in fault


def test_the_first_two_numbers_of_a_version() -> None:
    assert [minor_of(each) for each in ("2.3.0", "1.20.5", "2.4-SNAPSHOT")] == [
        "2.3",
        "1.20",
        "2.4",
    ]


def test_numbers_of_instances_change_in_place_from_1_18_on() -> None:
    (fault,) = faults_in_place("1.17.2")
    assert fault.startswith("Flink 1.17.2 cannot change numbers of instances while a job runs")
    assert not [*faults_in_place("1.18.1")]
    assert not [*faults_in_place("2.0.2")]


def test_labels_need_an_option_before_1_18() -> None:
    (fault,) = faults_of_labels("1.17.2", {})
    assert fault == f"Flink 1.17.2 has slots for labels only with {WITH_LABELS}: true"
    assert not [*faults_of_labels("1.17.2", {WITH_LABELS: "true"})]
    assert not [*faults_of_labels("1.18.1", {})]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1 minute", 60.0),
        ("2 minutes", 120.0),
        ("1 min", 60.0),
        ("1 m", 60.0),
        ("60 sec", 60.0),
        ("5secs", 5.0),
        ("60 s", 60.0),
        ("5 second", 5.0),
        ("400", 0.4),
        ("400 ms", 0.4),
        ("7 millis", 0.007),
        ("9 µs", 9e-6),
        ("9 nanos", 9e-9),
        ("1 h", 3600.0),
        (" 1 Hour ", 3600.0),
        ("3 days", 259_200.0),
    ],
)
def test_units_are_those_of_flink(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["9 us", "1.5 s", "1 mins", "1 hs", "-1", "", "s", "1 fortnight"])
def test_others_are_refused_as_by_flink(text: str) -> None:
    with pytest.raises(UsageError, match="must be a whole number with a unit, such as 60 s"):
        seconds_of(text)
