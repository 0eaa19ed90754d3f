"""The table of config keys on the page about training, compared with the forms."""

from docs.config_keys import PAGE, with_table


def test_the_table_is_that_of_the_forms() -> None:
    page = PAGE.read_text()
    assert page == with_table(page), "run `python -m docs.config_keys`"
