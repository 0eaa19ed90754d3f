"""IBM Streams's placement clauses, for the invocations of operators in SPL."""

import json

from streamplace.integrations.pes import pe_numbers
from streamplace.integrations.whole_operators import placed_whole
from streamplace.problem.placement import Placement

HEADER = """\
// One PE a device. Operators of one partitionColocation are fused into one PE; the first of each PE
// also has the partitionExlocation that keeps the PEs apart. Put each clause into the invocation of
// its operator, and this one into the main composite, with the names of your hosts:
"""


def write(placement: Placement) -> str:
    """Return SPL: a host pool per PE, then a placement clause per operator.

    Raises
    ------
    ProblemError
        If instances of an operator are on several devices: all channels of a parallel region share
        the clauses of its operators.
    """
    device_of = placed_whole(placement)
    number = pe_numbers(placement)
    pools = ",\n".join(f"  pe{n} = [{_text(device)}]" for device, n in number.items())
    parts = [f"{HEADER}config hostPool :\n{pools};\n"]
    begun: set[str] = set()
    for operator, device in device_of.items():
        pe = f"pe{number[device]}"
        rules = [f'partitionColocation("{pe}")', f"host({pe})"]
        if device not in begun and len(number) > 1:
            rules.insert(1, 'partitionExlocation("pes")')
        begun.add(device)
        parts.append(f"// {_text(operator)}\nconfig placement : {', '.join(rules)};\n")
    return "\n".join(parts)


def _text(name: str) -> str:
    """Return a name as a literal, on one line whatever is in it."""
    return json.dumps(name)
