"""Generated parts of pages, compared with what they are derived from."""

from types import ModuleType

import pytest

from docs import claims, config_keys


@pytest.mark.parametrize(
    ("generator", "update"),
    [
        pytest.param(config_keys, config_keys.with_table, id="config_keys"),
        pytest.param(claims, claims.with_tables, id="claims", marks=pytest.mark.long),
    ],
)
def test_a_page_is_what_its_generator_writes(generator: ModuleType, update: object) -> None:
    page = generator.PAGE.read_text()
    assert callable(update)
    assert page == update(page), f"run `python -m {generator.__name__}`"
