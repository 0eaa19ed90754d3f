"""Operators in the JSON of streamsx."""


def streamsx_operator(
    name: str, fed_by: list[str], port: str, kind: str = "a::B", **fields: object
) -> dict[str, object]:
    """Return an operator with one output port, and an input port that `fed_by` ports feed."""
    return {
        "name": name,
        "kind": kind,
        "inputs": [{"name": f"to {name}", "connections": fed_by}] if fed_by else [],
        "outputs": [{"name": port, **fields}],
    }
