"""Every reader, writer and wrapper under Hypothesis: bad files, unusual problems, any names."""

from importlib.util import find_spec

import pytest

from tests.hardening import readers
from tests.hardening.every_target import TARGETS
from tests.hardening.registered import registered_names
from tests.hardening.wrappers import BACKEND_PACKAGES, PARTITIONERS
from tests.hardening.writers import EXPORTS, FILES
from tests.support.share import Share

QUICK, MANY = 12, 1000
"""Examples of a target in `make test`, and in `make test-all`."""
ONLY_READ, ONLY_WRITTEN = {"scene", "constraints"}, {"trace"}  # of our own files
PLACEMENTS = {"json": "placement", "csv": "csv"}
"""Format of a placement -> its writer."""


def named(kind: str) -> set[str]:
    """Return the names of the targets of a kind, such as ``wrapper placer``."""
    return {name.removeprefix(f"{kind} ") for name in TARGETS if name.startswith(f"{kind} ")}


def test_everything_that_is_registered_has_a_target() -> None:
    names = registered_names()
    assert named("reader") >= names["imported"]
    assert {*EXPORTS, "cepsim"} == names["exported"]
    assert "cepsim" in FILES
    assert named("reader") >= names["own files"] - ONLY_WRITTEN
    assert {*FILES} >= names["own files"] - ONLY_READ
    assert {*PLACEMENTS} == names["placements"]
    assert {*FILES} >= {*PLACEMENTS.values()}
    assert named("wrapper placer") | named("wrapper makespan") == names["placers"]
    assert {*BACKEND_PACKAGES} == names["backends"]
    installed = {name for name, of in (BACKEND_PACKAGES | PARTITIONERS).items() if find_spec(of)}
    assert named("wrapper") >= names["code"] | installed | {"METIS", "METIS recursive", "CP-SAT"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.long if t.is_slow else ()) for n, t in TARGETS.items()],
)
def test_some_cases(name: str) -> None:
    TARGETS[name].run(QUICK)


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_many_cases(name: str, share: Share) -> None:
    """Other cases than the few, since their seed is another."""
    examples = share.least(MANY) / (20 if TARGETS[name].is_slow else 1)
    TARGETS[name].run(max(1, round(examples)), numbers=1)


@pytest.mark.long
@pytest.mark.parametrize("name", readers.TARGETS)
def test_malformed_texts_and_seeds(name: str) -> None:
    for document in readers.known(name):
        readers.check(name, document)
