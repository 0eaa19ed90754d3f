"""Graphs with everything that a drawn graph can hold."""

from dataclasses import replace

from hypothesis import strategies as st

from streamplace.problem.graph import UNKNOWN, StreamGraph
from tests.files.jobs import full_graphs

NUMBERS = st.floats(0, 1e300) | st.sampled_from([0.1 + 0.2, 5e-324, 1e-7, 1 / 3])


@st.composite
def drawn_graphs(draw: st.DrawFn) -> StreamGraph:
    """Return a graph of any names, some numbers not known, others of many digits."""
    plain = draw(full_graphs())
    numbers = st.none() | st.just(UNKNOWN) | NUMBERS
    owners = st.just("") | st.text(min_size=1, max_size=4)
    operators = []
    for operator in plain.operators:
        work, payload = draw(numbers), draw(numbers)
        operators.append(
            replace(
                operator,
                instructions=operator.instructions if work is None else work,
                payload_bytes=operator.payload_bytes if payload is None else payload,
                instance_of=draw(owners),
            )
        )
    streams = []
    for stream in plain.streams:
        selectivity = draw(numbers)
        kept = stream if selectivity is None else replace(stream, selectivity=selectivity)
        own = draw(st.none() | NUMBERS)
        streams.append(replace(kept, payload_bytes=own))
    return StreamGraph(
        operators,
        streams,
        name=plain.name,
        source_rate=plain.source_rate,
        source_shares={plain.names[v]: float(plain.source_share[v]) for v in plain.sources},
        constraints=plain.constraints,
    )
