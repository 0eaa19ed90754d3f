"""The module behind which the private parts of numba stand."""

from hashlib import sha256
from inspect import getsource

from docs.layers import imports_in, modules
from streamplace.sim.kernels import numba_private

PUBLIC = {"numba", "numba.extending"}
"""The modules of numba that its documentation is about."""
PASSES = "InlinedCompiler", "_Library", "_WithLibrary", "_Registered", "_number_functions_apart"
HASH_OF_PASSES = "84576cb4b4696010"


def test_no_other_module_imports_private_parts_of_numba() -> None:
    known = modules()
    importing = {
        name
        for name, path in known.items()
        for each in imports_in(path, known)
        if each.module.partition(".")[0] == "numba" and each.module not in PUBLIC
    }
    assert importing == {"streamplace.sim.kernels.numba_private"}


def test_other_passes_have_other_keys() -> None:
    """After a change of these, change `COMPILER`, and the hash here."""
    source = "".join(getsource(getattr(numba_private, name)) for name in PASSES)
    assert sha256(source.encode()).hexdigest()[:16] == HASH_OF_PASSES
    assert numba_private.COMPILER.startswith("0f702c66")
