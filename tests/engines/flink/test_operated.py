"""How the operator runs a job."""

import pytest

from streamplace.engines.flink.operated import Operated, adaptive_in, version_named


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1_20", (1, 20)),
        ("v2_4", (2, 4)),
        ("2.2", None),
        ("v2", None),
        ("V2_2", None),
        ("v2_2 ", None),
    ],
)
def test_names_of_versions(text: str, version: tuple[int, int] | None) -> None:
    assert version_named(text) == version


@pytest.mark.parametrize(
    ("version", "application", "session"),
    [
        ((1, 16), False, False),
        ((1, 17), True, False),
        ((1, 18), True, False),
        ((1, 19), True, True),
        ((1, 20), True, True),
        ((2, 0), False, False),
        ((2, 4), False, False),
        (None, True, True),
    ],
)
def test_versions_whose_starts_read_the_numbers(
    version: tuple[int, int] | None, application: bool, session: bool
) -> None:
    for is_session_job, kept in ((False, application), (True, session)):
        operated = Operated(version, is_session_job, {}, is_adaptive=True, is_standalone=False)
        assert operated.is_kept == kept


@pytest.mark.parametrize(
    ("config", "is_adaptive"),
    [
        ({}, False),
        ({"jobmanager.scheduler": "Adaptive"}, True),
        ({"jobmanager.scheduler": "AdaptiveBatch"}, False),
        ({"scheduler-mode": "reactive"}, True),
    ],
)
def test_the_adaptive_scheduler(config: dict[str, str], is_adaptive: bool) -> None:
    assert adaptive_in(config) == is_adaptive
