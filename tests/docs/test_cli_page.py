"""The page of help texts, compared with the commands."""

from docs.cli_page import PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `python -m docs.cli_page`"
