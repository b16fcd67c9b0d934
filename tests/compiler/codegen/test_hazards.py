"""The planner against the meaning of programs: memory is reused, results are as if it were not.

Programs of reads, views, in-place-able arithmetic and updates, ordered by control edges, run twice
in one session, optimized and not; each fetched value must be what doing the instructions in order
gives, and what was fed, fetched before or held by a constant must stay as it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import penstock as tf
from tests.compiler.codegen.straightline import OPS, VARIABLES, Built, interpret, make_sense

PLAIN = tf.ConfigProto()
PLAIN.graph_options.optimizer_options.opt_level = -1

lines = st.lists(
    st.tuples(st.sampled_from(OPS), st.integers(0, 30), st.integers(0, 30)),
    min_size=1, max_size=14,
)  # fmt: skip
fetches = st.lists(st.integers(0, 30), min_size=1, max_size=5)


def _check(draws: list[tuple[str, int, int]], wanted: list[int], config: Any) -> None:
    program = make_sense(draws, wanted)
    rng = np.random.RandomState(len(draws))
    constant = rng.randint(-3, 4, (2, 2)).astype(np.float64)
    state = [rng.randint(-3, 4, (2, 2)).astype(np.float64) for _ in VARIABLES]
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        built = Built(program, constant)
        for assign, value in zip(built.set, state, strict=True):
            sess.run(assign, {built.new: value})
        earlier: list[tuple[Any, Any]] = []
        for _ in range(2):
            fed = [rng.randint(-3, 4, s).astype(np.float64) for s in ((2, 2), (2, 2), (2,))]
            places = [fed[0], fed[1], constant, *state, fed[2]]
            expected, state = interpret(program, places)
            given = [f.copy() for f in fed]
            values, _ = sess.run(
                (built.fetches, built.writes), dict(zip(built.feeds, given, strict=True))
            )
            text = sess.explain((built.fetches, built.writes), dict(zip(built.feeds, given)))
            earlier += list(zip(values, expected, strict=True))
            for value, want in earlier:
                np.testing.assert_allclose(value, want, rtol=1e-9, err_msg=f"{program}\n{text}")
            for now, then in zip(given, fed, strict=True):
                np.testing.assert_array_equal(now, then, f"a feed was overwritten\n{text}")
            for value, want in zip(sess.run(built.variables), state, strict=True):
                np.testing.assert_allclose(value, want, rtol=1e-9, err_msg=f"{program}\n{text}")


@pytest.mark.long
@pytest.mark.parametrize("config", [PLAIN, None], ids=["as written", "optimized"])
@settings(max_examples=150)
@given(draws=lines, wanted=fetches)
# A product moves down to its bias, past a write of its operand.
@example([("matmul", 0, 3), ("assign", 0, 0), ("bias_add", 7, 6)], [9])
# An identity of a resource, and a product with one, hold the value from before the write.
@example([("identity", 5, 0), ("assign", 2, 0), ("add", 7, 0)], [9])
@example([("unit", 3, 0), ("assign", 0, 0), ("add", 7, 0)], [9])
# A product that would be added to the variable in whose memory its operand lies.
@example([("matmul", 3, 0), ("descend", 0, 7)], [0])
@example([("transpose", 3, 0), ("matmul", 7, 0), ("descend", 0, 8)], [0])
# A product's operand is updated before the product is added to another variable.
@example([("matmul", 3, 0), ("descend", 1, 7), ("descend", 0, 7)], [0])
@example([("matmul", 3, 0), ("assign_add", 0, 1), ("descend", 1, 7)], [0])
# A view of a result that is written in place later.
@example([("negative", 0, 0), ("flat", 7, 0), ("abs", 7, 0), ("negative", 8, 0)], [9, 10])
@example([("transpose", 3, 0), ("assign_add", 0, 7)], [0])
# A row that is added to a matrix is not the sum.
@example([("negative", 6, 0), ("add", 0, 7)], [8])
# One element of memory that stands for several.
@example([("negative", 6, 0), ("spread", 7, 0), ("abs", 8, 0)], [9])
@example([("reversed", 3, 0), ("scatter_add", 0, 7)], [0])
def test_programs_mean_what_their_instructions_do_in_order(
    config: Any, draws: list[tuple[str, int, int]], wanted: list[int]
) -> None:
    _check(draws, wanted, config)


@pytest.mark.long
@pytest.mark.parametrize("config", [PLAIN, None], ids=["as written", "optimized"])
@settings(max_examples=3000)
@given(draws=lines, wanted=fetches)
def test_many_programs(config: Any, draws: list[tuple[str, int, int]], wanted: list[int]) -> None:
    _check(draws, wanted, config)
