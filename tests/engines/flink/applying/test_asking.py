"""Answers after which it is certain that Flink did nothing."""

import pytest

from streamplace.engines.flink.applying.asking import is_certain
from streamplace.formats.profiling.rest import RefusedError


@pytest.mark.parametrize(
    ("answer", "certain"),
    [
        ('{"errors": ["Internal server error."]}', True),
        ('{"errors": ["java.util.concurrent.TimeoutException: Invocation timed out"]}', False),
        ('{"errors": ["org.apache.pekko.pattern.AskTimeoutException: Ask timed out"]}', False),
        ("<html>504 Gateway Timeout</html>", False),
        ("", False),
    ],
)
def test_only_flink_refuses(answer: str, certain: bool) -> None:
    error = RefusedError("HTTP 500")
    error.answer = answer
    assert is_certain(error) is certain
