"""The settings of `plan` and `size`, in Python and on the command line."""

from dataclasses import fields
from inspect import getdoc, signature
from typing import Any

import pytest

import streamplace as sp
from streamplace.capacity.settings import CapacitySettings, PlanSettings, SizeSettings
from streamplace.errors import UsageError
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


@pytest.mark.parametrize("settings", [PlanSettings, SizeSettings])
@pytest.mark.parametrize("share", [0.0, 1.5, "0.5"])
def test_a_target_utilisation_is_a_share(settings: type[CapacitySettings], share: Any) -> None:
    with pytest.raises(UsageError, match="target_utilisation: must be "):
        settings(target_utilisation=share)
    assert settings(target_utilisation=1.0).target_utilisation == 1.0
