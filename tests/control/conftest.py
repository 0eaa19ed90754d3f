"""The start that many tests of the controller share: an overload on which it acts."""

import pytest

from tests.support.control import Acting, controller, last, overloads


@pytest.fixture
def acting() -> Acting:
    """Return a controller whose action on an overload is under way, and its decision."""
    of = controller()
    decision = last(of, *overloads())
    of.began(decision, decision.at_s)
    return of, decision
