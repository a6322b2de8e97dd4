"""Random kernels whose lanes exchange values: shuffles between arithmetic and shared memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.simulator import simulate
from tests.simt.oracle import run_serially

N = 128
IMPORTS = "from numba import cuda, int64\n"

_values = st.sampled_from(["x", "y", "x + y", "x * 3 - y", "x ^ i", "y + cuda.laneid"])
_steps = st.one_of(
    st.tuples(st.sampled_from("xy"), _values, st.integers(0, 40)).map(
        lambda t: f"{t[0]} = cuda.shfl_sync(0xFFFFFFFF, {t[1]}, {t[2]})"
    ),
    st.tuples(
        st.sampled_from("xy"), st.sampled_from(["up", "down", "xor"]), _values, st.integers(0, 31)
    ).map(lambda t: f"{t[0]} = cuda.shfl_{t[1]}_sync(0xFFFFFFFF, {t[2]}, {t[3]})"),
    st.tuples(st.sampled_from("xy"), _values).map(lambda t: f"{t[0]} = ({t[1]}) % 1009"),
    st.tuples(st.sampled_from("xy"), _values, st.integers(2, 5)).map(
        lambda t: f"if i % {t[2]} == 0:\n    {t[0]} = {t[1]}"
    ),
    st.tuples(st.sampled_from("xy"), st.integers(1, 60)).map(
        lambda t: (
            f"s[cuda.threadIdx.x] = {t[0]}\ncuda.syncthreads()\n"
            f"{t[0]} = s[(cuda.threadIdx.x + {t[1]}) % 64]\ncuda.syncthreads()"
        )
    ),
)


@settings(max_examples=30, deadline=None)
@given(steps=st.lists(_steps, min_size=1, max_size=8), seed=st.integers(0, 1000))
def test_shuffles_between_other_work(
    steps: list[str], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    body = "\n".join(["s = cuda.shared.array(64, int64)", "i = cuda.grid(1)", "x = a[i]", "y = i"])
    body += "\n" + "\n".join(steps) + "\nout[i] = x * 5 + y"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"{IMPORTS}@cuda.jit\ndef kernel(out, a):\n{lines}"
    path = tmp_path_factory.mktemp("shuffles") / "kernel.py"
    path.write_text(text)
    a = np.random.default_rng(seed).integers(-50, 50, N)
    out, expected = np.zeros(N, np.int64), np.zeros(N, np.int64)
    report = simulate(f"{path}:kernel")[2, 64](out, a)
    assert report.ok, report
    oracle = text.replace(IMPORTS, "int64 = np.int64\n")
    run_serially(oracle, "kernel", (2, 1, 1), (64, 1, 1), expected, a)
    np.testing.assert_array_equal(out, expected)
