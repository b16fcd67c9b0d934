"""einsum of many operands: against NumPy's, over random equations; what it refuses."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import penstock as tf

_LABELS = "abcdef"


def _random_equation(seed: int) -> tuple[str, list[np.ndarray]]:
    """An equation of up to five operands, and small integers for them."""
    rng = random.Random(seed)
    sizes = {label: rng.choice([1, 2, 3]) for label in _LABELS}
    operands = ["".join(rng.sample(_LABELS, rng.randint(1, 3))) for _ in range(2 + seed % 4)]
    equation = ",".join(operands)
    used = sorted(set("".join(operands)))
    if rng.random() < 0.8:
        equation += "->" + "".join(rng.sample(used, rng.randint(0, min(4, len(used)))))
    numbers = np.random.default_rng(seed)
    values = [numbers.integers(-3, 4, [sizes[c] for c in labels]) for labels in operands]
    return equation, [value.astype(np.float64) for value in values]


def _evaluated(equation: str, values: list[np.ndarray], known: bool) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        dims = [v.shape if known else [None] * v.ndim for v in values]
        inputs = [tf.placeholder(tf.float64, d) for d in dims]
        result = tf.einsum(equation, *inputs)
        found = session.run(result, dict(zip(inputs, values, strict=True)))
        assert result.shape.is_compatible_with(found.shape)
        return found


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,ij,j->i", [(2, 3), (2, 3), (3,)]),
        ("i,i,i->", [(3,), (3,), (3,)]),
        ("ijk,jklm,nij->lmn", [(2, 3, 4), (3, 4, 2, 5), (2, 2, 3)]),
        ("ijk,ijkl,k->jl", [(2, 3, 4), (2, 3, 4, 2), (4,)]),
        ("efc,dbc,acf,fd->abe", [(2, 3, 4), (2, 5, 4), (3, 4, 3), (3, 2)]),
        ("abhe,hidj,jgba,hiab,gab", [(2, 3, 4, 2), (4, 2, 3, 2), (2, 5, 3, 2), (4, 2, 2, 3),
                                     (5, 2, 3)]),
        ("...i,...i,...i->...", [(4, 3), (4, 3), (4, 3)]),
        ("i,i,ij->j", [(0,), (0,), (0, 3)]),
    ],
)  # fmt: skip
def test_a_label_that_a_later_operand_needs_is_kept(
    equation: str, shapes: list[tuple[int, ...]], known: bool
) -> None:
    rng = np.random.default_rng(0)
    values = [rng.integers(-3, 4, shape).astype(np.float64) for shape in shapes]
    wanted = np.einsum(equation, *values)
    np.testing.assert_array_equal(_evaluated(equation, values, known), wanted)


@pytest.mark.parametrize("seed", range(40))
def test_random_equations_as_in_numpy(seed: int) -> None:
    equation, values = _random_equation(seed)
    found = _evaluated(equation, values, known=seed % 2 == 0)
    np.testing.assert_array_equal(found, np.einsum(equation, *values), equation)


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_gradients_of_random_equations(seed: int) -> None:
    equation, values = _random_equation(seed)
    with tf.Graph().as_default(), tf.Session():
        inputs = [tf.constant(v) for v in values]
        result = tf.einsum(equation, *inputs)
        shapes = [v.shape for v in values]
        error = tf.test.compute_gradient_error(
            inputs, shapes, result, result.shape.as_list(), x_init_value=values
        )
        assert error < 1e-6, equation


def test_ii_is_the_trace() -> None:
    matrix = np.arange(9.0).reshape(3, 3)
    assert _evaluated("ii", [matrix], known=True) == np.trace(matrix)


@pytest.mark.parametrize(
    ("equation", "shape", "match"),
    [
        ("...i...->i", (2,), "Unable to resolve ellipsis"),
        ("i->ii", (2,), "Invalid equation: i->ii"),
        ("ii->i", (2, 2), "repeated within operand"),
        ("iij,", (2, 2, 2), "einsum"),
    ],
)
def test_refused_equations(equation: str, shape: tuple[int, ...], match: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=match):
        tf.einsum(equation, np.ones(shape))
