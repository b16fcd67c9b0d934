"""The one numeric checker of gradients: central differences against ``tf.gradients``.

The outputs are projected on random weights w to the real number L = sum(Re(conj(w) y)); with
grad_ys = w the gradient g of an input then obeys dL = sum(Re(conj(g) dx)) (the convention for
complex numbers that TensorFlow uses).  Small inputs are checked element by element, larger ones
along random directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Values = list[np.ndarray]
# working dtype: (step, rtol, atol): the error of a central difference is about step^2 plus
# rounding / step; atol is relative to the largest derivative or 1.
STEPS = {np.dtype(np.float64): (1e-5, 1e-5, 1e-6), np.dtype(np.float32): (1e-2, 2e-2, 5e-3)}
ELEMENTS, DIRECTIONS = 48, 16


def random_like(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """Uniform values in [-1, 1) of the array's shape and dtype, complex if it is."""
    values = rng.uniform(-1, 1, array.shape)
    if np.iscomplexobj(array):
        values = values + 1j * rng.uniform(-1, 1, array.shape)
    return values.astype(array.dtype)


def _directions(rng: np.random.Generator, x: np.ndarray) -> list[np.ndarray]:
    if x.size > ELEMENTS:
        return [random_like(rng, x) for _ in range(DIRECTIONS)]
    units = []
    for unit in (1, 1j) if np.iscomplexobj(x) else (1,):
        for i in range(x.size):
            direction = np.zeros(x.size, x.dtype)
            direction[i] = unit
            units.append(direction.reshape(x.shape))
    return units


def _inner(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sum((np.conj(a) * b).real, dtype=np.float64))


def check(
    evaluate: Callable[[Values], Values],
    points: Values,
    weights: Values,
    gradients: Sequence[np.ndarray | None],
    rng: np.random.Generator,
) -> list[str]:
    """Compares gradients with central differences.

    Args:
      evaluate: Maps input arrays to output arrays.
      points: Where; float or complex arrays.
      weights: One array for each output: the projection, fed to the gradients as grad_ys.
      gradients: What ``tf.gradients`` gave; None says that the derivative is zero.
      rng: Chooses directions.

    Returns:
      One line for each derivative that is wrong.
    """
    wrong: list[str] = []
    # Outputs of single precision alone leave nothing of a small step, whatever the input's dtype.
    single = all(np.finfo(w.dtype).dtype == np.float32 for w in weights)
    for number, (x, gradient) in enumerate(zip(points, gradients, strict=True)):
        precision = np.float32 if single else np.zeros(0, x.dtype).real.dtype
        step, rtol, atol = STEPS[np.dtype(precision)]
        if gradient is not None and gradient.shape != x.shape:
            wrong.append(f"input {number}: gradient has shape {gradient.shape}, not {x.shape}")
            continue
        for direction in _directions(rng, x):
            sides = []
            for sign in (1, -1):
                moved = [*points[:number], x + sign * step * direction, *points[number + 1 :]]
                moved[number] = moved[number].astype(x.dtype)
                ys = evaluate(moved)
                sides.append(sum(_inner(w, y) for w, y in zip(weights, ys, strict=True)))
            numeric = (sides[0] - sides[1]) / (2 * step)
            symbolic = 0.0 if gradient is None else _inner(gradient, direction)
            scale = (
                1.0 if gradient is None else max(1.0, float(np.max(np.abs(gradient), initial=0)))
            )
            if not abs(numeric - symbolic) <= rtol * abs(numeric) + atol * scale:
                which = np.argwhere(direction).tolist()
                at = which[0] if len(which) == 1 else "a random direction"
                given = "None" if gradient is None else f"{symbolic:.8g}"
                wrong.append(f"input {number} at {at}: gradient {given}, numerically {numeric:.8g}")
    return wrong


def gradients_of(backend: Any, ys: Sequence[Any], xs: Sequence[Any], weights: Values) -> list[Any]:
    """``tf.gradients`` with constant grad_ys; IndexedSlices are made dense by the graph."""
    tf = backend.tf
    grad_ys = [tf.constant(w, dtype=y.dtype.base_dtype) for w, y in zip(weights, ys, strict=True)]
    found = tf.gradients(list(ys), list(xs), grad_ys=grad_ys)
    return [tf.convert_to_tensor(g) if hasattr(g, "indices") else g for g in found]
