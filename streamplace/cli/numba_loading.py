"""Loading of numba for short commands, without scipy.linalg, and a note while it compiles."""

import sys
import time

import click

from streamplace.execution.progress import is_quiet

NOTED_AFTER = 1.0  # seconds of compiling


def load_numba() -> None:
    """Load numba's NumPy functions without importing scipy.linalg, which takes about 0.13 s.

    On a terminal, a note on stderr announces that kernels are being compiled.

    `numba.np.arraymath` imports scipy.linalg to find out whether BLAS exists, and uses the answer
    in `np.convolve` and `np.correlate` only: without it, they use a loop. No kernel here calls
    them. Linear algebra in kernels of other packages still finds BLAS, since `ensure_blas` is
    called again when they are compiled.
    """
    if "numba.np.arraymath" in sys.modules:
        return
    from numba.np import linalg  # noqa: PLC0415 - takes 0.25 s

    ensure_blas = linalg.ensure_blas
    linalg.ensure_blas = _no_blas
    try:
        import numba.np.arraymath  # noqa: F401, PLC0415
    finally:
        linalg.ensure_blas = ensure_blas
    if sys.stderr.isatty() and not is_quiet():
        _note_compiling()


def _note_compiling() -> None:
    """Print a note when kernels that are not in the cache have taken a second to compile."""
    from numba.core import event  # noqa: PLC0415 - takes 0.25 s

    class Noting(event.Listener):
        depth, begun, spent = 0, 0.0, 0.0
        is_noted = False

        def on_start(self, event: object) -> None:
            now = time.monotonic()
            if self.depth == 0:
                self.begun = now
            self.depth += 1
            if not self.is_noted and self.spent + now - self.begun > NOTED_AFTER:
                self.is_noted = True
                text = "compiling kernels for this machine; that takes up to a minute, once"
                click.echo(text, err=True)

        def on_end(self, event: object) -> None:
            self.depth -= 1
            if self.depth == 0:
                self.spent += time.monotonic() - self.begun

    event.register("numba:compile", Noting())  # type: ignore[no-untyped-call]


def _no_blas() -> None:
    raise ImportError
