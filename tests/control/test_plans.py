"""Plans of the controller."""

import ast
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import streamplace.control
from streamplace.control.decisions import change
from streamplace.control.plans import Deployment, Plan

NAMES = st.sampled_from(["decode", "count", "sink"])


HOSTS = st.dictionaries(NAMES, st.lists(st.sampled_from("abcd"), min_size=1).map(tuple))


NUMBERS = st.floats(0.0, 1e9)


PLANS = st.builds(Plan, HOSTS.map(Deployment), NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)


@given(HOSTS)
def test_a_key_depends_on_counts_by_device_only(hosts: dict[str, tuple[str, ...]]) -> None:
    deployment = Deployment(hosts)
    turned = Deployment({name: hosts[name][::-1] for name in reversed(hosts)})
    assert turned.key == deployment.key
    assert turned.numbers_key == deployment.numbers_key
    more = Deployment({**hosts, "decode": (*hosts.get("decode", ()), "a")})
    assert more.key != deployment.key
    assert more.numbers_key != deployment.numbers_key


@given(HOSTS)
def test_other_devices_change_the_key_but_not_the_numbers(
    hosts: dict[str, tuple[str, ...]],
) -> None:
    moved = Deployment({name: ("z", *on[1:]) for name, on in hosts.items()})
    assert (moved.key == Deployment(hosts).key) == (not hosts)
    assert moved.numbers_key == Deployment(hosts).numbers_key


@given(PLANS, HOSTS.map(Deployment))
def test_plans_are_restored_and_undone(plan: Plan, before: Deployment) -> None:
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    undone = plan.undone(before)
    assert undone.deployment == before
    assert undone.undone(plan.deployment) == plan
    assert (undone.carries_s, undone.price_s) == (plan.now_carries_s, plan.now_price_s)


def test_a_change_names_what_changes() -> None:
    before = Deployment({"decode": ("a",), "count": ("b", "b")})
    after = Deployment({"decode": ("a", "b", "c"), "count": ("b",)})
    assert change(before, after) == (
        "count from 2 to 1 instance, decode from 1 to 3 instances, on 3 devices"
    )
    moved = Deployment({"decode": ("c",), "count": ("c", "c")})
    assert change(before, moved) == "the same numbers of instances, on 1 device"
    many = Deployment({f"o{i}": ("a",) for i in range(7)})
    assert change(Deployment({}), many).endswith("2 more operators, on 1 device")


CONTROL = Path(streamplace.control.__file__).parent


def test_control_knows_no_engine() -> None:
    found = [
        f"{path.relative_to(CONTROL)} imports {module}"
        for path in CONTROL.rglob("*.py")
        for module in _imports(path)
        if module.startswith("streamplace.engines")
    ]
    assert found == []


def _imports(path: Path) -> list[str]:
    """Return the modules that a file imports, also inside functions."""
    tree = ast.walk(ast.parse(path.read_text()))
    return [
        name
        for node in tree
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    ]
