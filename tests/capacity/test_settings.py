"""The settings of `plan` and `size`, in Python and on the command line."""

from dataclasses import fields
from inspect import getdoc, signature
from typing import Any

import pytest

import streamplace as sp
from streamplace.capacity.settings import CapacitySettings, PlanSettings, SizeSettings
from streamplace.util.settings import meanings

VERBS: list[tuple[Any, type[CapacitySettings]]] = [(sp.plan, PlanSettings), (sp.size, SizeSettings)]


@pytest.mark.parametrize(("verb", "settings"), VERBS)
def test_each_setting_is_a_keyword_with_its_meaning(
    verb: Any, settings: type[CapacitySettings]
) -> None:
    names = [each.name for each in fields(settings)]
    assert [*signature(verb).parameters] == ["graph", "cluster", *names]
    text = " ".join(str(getdoc(verb)).split())
    assert [
        name for name, about in meanings(settings).items() if f"{name} {about}" not in text
    ] == []
