#!/bin/sh
# JAX 0.10.0: cost_analysis() of a compiled function counts the body of a loop once, however often
# it runs: a scan of 100 products costs as much as one product, or as 100 if it is unrolled.
#
# The number of steps is a constant of the program, which XLA knows. So the cost of a network that
# scans over its layers, or over time, is that of a single layer or step, and differs from that of
# the same network written as a Python loop. A placer that reads these costs takes the loop for a
# light operator.
#
# Output seen (Python 3.11, x86-64), 100 products of 4,096 operations one after the other:
#   lax.scan: 4,098 operations
#   lax.fori_loop: 4,098 operations
#   lax.scan with unroll=100: 409,600 operations
#   Python loop: 409,600 operations
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q jax==0.10.0 jaxlib==0.10.0
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PYTHON'
import jax
import jax.numpy as jnp
from jax import lax

STEPS, PRODUCT = 100, 2 * 8 * 16 * 16
x, weights = jnp.ones((8, 16)), jnp.ones((16, 16))


def step(x, _):
    return x @ weights, None


def in_python(x):
    for _ in range(STEPS):
        x = x @ weights
    return x


for name, function, expected in (
    ("lax.scan", lambda x: lax.scan(step, x, length=STEPS)[0], 1),
    ("lax.fori_loop", lambda x: lax.fori_loop(0, STEPS, lambda _, x: x @ weights, x), 1),
    (
        f"lax.scan with unroll={STEPS}",
        lambda x: lax.scan(step, x, length=STEPS, unroll=STEPS)[0],
        STEPS,
    ),
    ("Python loop", in_python, STEPS),
):
    flops = jax.jit(function).lower(x).compile().cost_analysis()["flops"]
    print(f"{name}: {flops:,.0f} operations")
    assert round(flops / PRODUCT) == expected, "this has changed"
PYTHON
