"""The public names, which are loaded when they are first used."""

import subprocess
import sys

import pytest

import streamplace as sp


def test_every_public_name_exists() -> None:
    assert [name for name in sp.__all__ if not hasattr(sp, name)] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'streamplace' has no attribute 'nothing'"):
        _ = sp.nothing


def test_no_public_name_is_loaded_before_its_use() -> None:
    code = "import sys, streamplace; print('numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
