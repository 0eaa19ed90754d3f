"""The table of config keys in docs/training.md, compared with the forms."""

from docs.config_keys import PAGE, with_table


def test_the_table_matches_the_forms() -> None:
    page = PAGE.read_text()
    assert page == with_table(page), "run `python -m docs.config_keys`"
