"""Operator chains in descriptions of vertices."""

import pytest

from streamplace.engines.flink.chain import chain_of


@pytest.mark.parametrize(
    ("text", "names", "parents"),
    [
        ("a", ("a",), (None,)),
        ("a<br/>+- b<br/>   :- c<br/>   :  +- d<br/>", tuple("abcd"), (None, 0, 1, 2)),
        ("a<br/>:- b<br/>:  +- c<br/>+- d<br/>", tuple("abcd"), (None, 0, 1, 0)),
        ("a &gt; 1<br>+- b &amp; c<br />", ("a > 1", "b & c"), (None, 0)),
        ("A -&gt; B -&gt; C", ("A", "B", "C"), (None, 0, 1)),
        ("A -> (B, C -> D)", ("A", "B", "C", "D"), (None, 0, 0, 2)),
        ("A -> (B -> (C, D), E)", ("A", "B", "C", "D", "E"), (None, 0, 1, 1, 0)),
        ("Calc(a=[x, y -> z]) -> B", ("Calc(a=[x, y -> z])", "B"), (None, 0)),
        ("A -> (B)", ("A", "(B)"), (None, 0)),
        ("map: x -&gt; y<br/>", ("map: x -> y",), (None,)),
        ("map: x -&gt; y<br/>+- f -&gt; g<br/>", ("map: x -> y", "f -> g"), (None, 0)),
        ("<br/>", ("",), (None,)),
        ("+- a<br/>         +- b", ("a", "b"), (None, 0)),
    ],
)  # fmt: skip
def test_chains(text: str, names: tuple[str, ...], parents: tuple[int | None, ...]) -> None:
    chain = chain_of(text)
    assert (chain.names, chain.parents) == (names, parents)
