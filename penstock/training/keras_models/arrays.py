"""What ``fit`` and its kin are given, as lists of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.library.layer_base import settings
from penstock.training.keras_models.hdf5_matrix import HDF5Matrix


def standardized(given: Any, names: Sequence[str], shapes: Sequence[Any], what: str) -> list[Any]:
    """Arrays in the order of ``names``.

    Args:
      given: an array, a list of arrays, or a dict by name.
      names: of inputs or outputs.
      shapes: their shapes with the batch, None where open; None says nothing of an array.
      what: ``"input"`` or ``"target"``, for errors.

    Raises:
      ValueError: a name lacks, there are too many arrays, or a shape does not fit.
    """
    if given is None and not names:
        return []
    if isinstance(given, dict):
        for name in names:
            if name not in given:
                raise ValueError(
                    f'No data provided for "{name}". Need data for each key in: {list(names)}'
                )
        found = [given[name] for name in names]
    elif isinstance(given, list | tuple) and not (
        len(names) == 1 and given and np.isscalar(given[0])
    ):
        # Lists of numbers are one array's rows; a list of arrays is one for each name.
        nested = len(names) == 1 and len(given) > 1 and not hasattr(given[0], "shape")
        found = [np.asarray(given)] if nested else list(given)
    else:
        found = [given]
    if len(found) != len(names):
        raise ValueError(
            f"Error when checking model {what}: the list of Numpy arrays that you are passing to"
            f" your model is not the size the model expected. Expected to see {len(names)}"
            f" array(s), but instead got the following list of {len(found)} arrays"
        )
    arrays = [_array(one) for one in found]
    # A vector is a column.
    arrays = [one[:, np.newaxis] if one.ndim == 1 else one for one in arrays]
    for array, name, shape in zip(arrays, names, shapes, strict=True):
        if shape is not None:
            _check(array, name, shape, what)
    return arrays


def _array(given: Any) -> Any:
    """An array; what is read from a file batch by batch stays there."""
    if isinstance(given, HDF5Matrix) and given.ndim > 1:
        return given
    whole = given[:] if isinstance(given, HDF5Matrix) else getattr(given, "values", given)
    return np.asarray(whole)


def _check(array: Any, name: str, shape: Sequence[Any], what: str) -> None:
    if array.ndim != len(shape):
        raise ValueError(
            f"Error when checking {what}: expected {name} to have {len(shape)} dimensions, but got"
            f" array with shape {array.shape}"
        )
    if any(d is not None and d != f for d, f in zip(shape[1:], array.shape[1:], strict=True)):
        raise ValueError(
            f"Error when checking {what}: expected {name} to have shape"
            f" {tuple(shape[1:])} but got array with shape {array.shape[1:]}"
        )


def same_length(inputs: list[Any], targets: list[Any]) -> int:
    """The number of samples.

    Raises:
      ValueError: inputs or targets differ in it.
    """
    for what, arrays in (("input", inputs), ("target", targets)):
        if len({len(one) for one in arrays}) > 1:
            raise ValueError(
                f"All {what} arrays (x) should have the same number of samples. Got array shapes:"
                f" {[one.shape for one in arrays]}"
            )
    if inputs and targets and len(inputs[0]) != len(targets[0]):
        raise ValueError(
            "Input arrays should have the same number of samples as target arrays. Found"
            f" {len(inputs[0])} input samples and {len(targets[0])} target samples."
        )
    return len((inputs or targets or [()])[0])


def class_weights(weights: Any, target: Any) -> Any:
    """The weight of each sample by its class; None where there are none.

    Args:
      weights: from the number of a class to its weight, or None.
      target: [n, classes] or [n, 1].

    Raises:
      ValueError: a class has no weight, or the target more dims.
    """
    if not weights:
        return None
    if target.ndim > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    classes = target.argmax(axis=-1) if target.shape[-1] > 1 else target.reshape(-1)
    lacking = set(classes.tolist()) - set(weights)
    if lacking:
        raise ValueError(
            "`class_weight` must contain all classes in the data. The classes"
            f" {lacking} exist in the data but not in `class_weight`."
        )
    return np.asarray([weights[one] for one in classes.tolist()], settings.floatx())


def weights_of(weighted_by: str | None, given: Any, by_class: Any, target: Any) -> Any:
    """The weights of an output's samples, or of their steps; None where there are none.

    Args:
      weighted_by: "temporal": steps have weights.
      given: weights of samples, or None.
      by_class: from the number of a class to its weight, or None.
      target: an array; None where a tensor stands for it.

    Raises:
      ValueError: they do not fit the target, or the mode.
    """
    if target is None:  # a tensor, which is not known yet
        return given
    weights = None if given is None else np.asarray(given, settings.floatx())
    if weighted_by == "temporal":
        _check_temporal(weights, target)
    elif weights is not None and weights.ndim != 1:
        raise ValueError(
            f"Found a sample_weight array with shape {weights.shape}. In order to use timestep-wise"
            ' sample weights, you should specify sample_weight_mode="temporal" in compile(). If you'
            " just mean to use sample-wise weights, make sure your sample_weight array is 1D."
        )
    if weights is not None and weights.shape != target.shape[: weights.ndim]:
        raise ValueError(
            f"Found a sample_weight array with shape {weights.shape} for an input with shape"
            f" {target.shape}. sample_weight cannot be broadcast."
        )
    of_classes = class_weights(by_class, target)
    if weights is None or of_classes is None:
        return of_classes if weights is None else weights
    return weights * of_classes


def _check_temporal(weights: Any, target: Any) -> None:
    if target.ndim < 3:
        raise ValueError(
            f"Found a sample_weight array for an input with shape {target.shape}. Timestep-wise"
            ' sample weighting (use of sample_weight_mode="temporal") is restricted to outputs that'
            " are at least 3D, i.e. that have a time dimension."
        )
    if weights is not None and weights.ndim != 2:
        raise ValueError(
            f"Found a sample_weight array with shape {weights.shape}. In order to use timestep-wise"
            " sample weighting, you should pass a 2D sample_weight array."
        )


def input_type(kind: np.dtype[Any]) -> str:
    """The type that a model made for arrays of a type takes: the default one of numbers."""
    return settings.floatx() if kind.kind == "f" else kind.name


def batches(count: int, size: int) -> list[tuple[int, int]]:
    """(first, past the last) of each batch."""
    return [(at, min(at + size, count)) for at in range(0, count, size)]
