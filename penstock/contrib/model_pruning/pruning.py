"""Masks that are narrowed as training goes on: the smallest weights are masked.

The share of zeros goes from the initial to the target sparsity over some steps, fast at first:
``target + (initial - target) * (1 - progress) ** exponent``.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from penstock.contrib.model_pruning.masks import get_masks, get_thresholds, get_weights
from penstock.contrib.training.hparams import HParams
from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.library.control_flow.cond import cond
from penstock.library.nn.dilation import pool
from penstock.library.nn.normalization import zero_fraction
from penstock.library.ragged_tensors.dispatched import (
    abs_,
    cast,
    div,
    gather,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_or,
    maximum,
    minimum,
    multiply,
    round_,
    size,
    squeeze,
    tile,
)
from penstock.library.variables.getting import get_variable
from penstock.library.variables.global_step import get_global_step
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.reshape import reshape
from penstock.ops.array.scatter import scatter_nd
from penstock.ops.array.shape import shape
from penstock.ops.array.slicing import slice_
from penstock.ops.array.sorting import top_k
from penstock.ops.array.transpose import transpose
from penstock.ops.control.control import no_op
from penstock.ops.math.addn import add_n
from penstock.ops.state.state import assign
from penstock.storage.summary.build import scalar

_LOG = logging.getLogger("penstock")


def get_pruning_hparams() -> HParams:
    """What ``Pruning`` can be told, with defaults.

    Returns:
      ``HParams``: ``name``; ``begin_pruning_step``, ``end_pruning_step`` (-1: never) and
      ``pruning_frequency``; ``threshold_decay``; ``initial_sparsity`` and ``target_sparsity``,
      between them ``sparsity_function_begin_step``, ``sparsity_function_end_step`` and
      ``sparsity_function_exponent``; ``weight_sparsity_map``, a list of "regex:target";
      ``block_height``, ``block_width`` and ``block_pooling_function`` ("AVG" or "MAX") of what is
      masked together, ``block_dims_map``, a list of "regex:heightxwidth"; ``nbins``, not used, and
      ``use_tpu``.

    Example:
      >>> import penstock as tf
      >>> hparams = tf.contrib.model_pruning.get_pruning_hparams()
      >>> hparams.parse("target_sparsity=0.9,pruning_frequency=100").target_sparsity
      0.9
    """
    return HParams(
        name="model_pruning", begin_pruning_step=0, end_pruning_step=-1, weight_sparsity_map=[""],
        block_dims_map=[""], threshold_decay=0.0, pruning_frequency=10, nbins=256,
        block_height=1, block_width=1, block_pooling_function="AVG", initial_sparsity=0.0,
        target_sparsity=0.5, sparsity_function_begin_step=0, sparsity_function_end_step=100,
        sparsity_function_exponent=3.0, use_tpu=False,
    )  # fmt: skip


class Pruning:
    """Updates the masks of a graph.

    Args:
      spec: an ``HParams`` such as ``get_pruning_hparams`` makes.
      global_step: counter of steps; default the graph's.
      sparsity: a scalar tensor, in place of what ``spec`` says of its course.

    Raises:
      ValueError: steps or shares that are none.
    """

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None) -> None:
        if not spec:
            spec = get_pruning_hparams()
        self._spec: Any = spec
        _check(self._spec)
        step = get_global_step() if global_step is None else global_step
        self._global_step = cast(step, dtypes.int32)
        self._sparsity = self._course() if sparsity is None else sparsity
        with variable_scope(self._spec.name, use_resource=self._spec.use_tpu):
            self._last_update_step = get_variable(
                "last_mask_update_step", [], dtypes.int32, zeros_initializer(), trainable=False
            )
        self._block_dims = [self._spec.block_height, self._spec.block_width]
        self._targets = _targets(self._spec.weight_sparsity_map)
        self._blocks = _blocks(self._spec.block_dims_map)
        self._assign_ops: list[Any] = []

    def _course(self) -> Any:
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with name_scope(spec.name):
            progress = div(cast(self._global_step - begin, dtypes.float32), float(end - begin))
            progress = minimum(1.0, maximum(0.0, progress))
            left = make("Pow", 1 - progress, spec.sparsity_function_exponent)
            scaled = make("Mul", spec.initial_sparsity - spec.target_sparsity, left)
            return make("Add", scaled, spec.target_sparsity, name="sparsity")

    # ---- updates -------------------------------------------------------------------------------

    def mask_update_op(self) -> Any:
        """An op that updates all masks and thresholds.

        Raises:
          ValueError: not as many thresholds as masks.
        """
        with name_scope(self._spec.name):
            if not self._assign_ops:
                self._make_assignments()
            count = assign(
                self._last_update_step, self._global_step, name="last_mask_update_step_assign"
            )
            with control_dependencies([count]), control_dependencies(self._assign_ops):
                return no_op("mask_update")

    def conditional_mask_update_op(self) -> Any:
        """Updates all masks if it is time to: within the steps of pruning, as often as was said."""
        spec, step = self._spec, self._global_step
        with name_scope(spec.name):
            within = logical_and(
                greater_equal(step, spec.begin_pruning_step),
                logical_or(less_equal(step, spec.end_pruning_step), less(spec.end_pruning_step, 0)),
            )
            due = less_equal(make("Add", self._last_update_step, spec.pruning_frequency), step)
            now = logical_and(within, due)
        return cond(now, self.mask_update_op, no_op)

    def _make_assignments(self) -> None:
        masks, thresholds, weights = get_masks(), get_thresholds(), get_weights()
        if len(masks) != len(thresholds):
            raise ValueError(
                f"Number of masks {len(masks)} and number of thresholds {len(thresholds)} mismatch"
            )
        for mask, threshold, weight in zip(masks, thresholds, weights, strict=True):
            found = self._updated_in_blocks(weight, threshold)
            for variable, value in zip((threshold, mask), found, strict=True):
                name = f"{variable.op.name}_assign"
                self._assign_ops.append(assign(variable, value, name=name))

    def _updated_in_blocks(self, weights: Any, threshold: Any) -> tuple[Any, Any]:
        """The new threshold and mask; blocks of a matrix have one element of the mask."""
        name = weights.op.name
        block = _matched(self._blocks, name, "block_dims_map") or self._block_dims
        flat = squeeze(weights)
        if flat.get_shape().ndims != 2 or block == [1, 1]:
            return self._updated(weights, threshold)
        rows, columns = flat.get_shape().as_list()
        with name_scope(f"{name}_pruning_ops"):
            pooled = pool(
                reshape(abs_(flat), [1, rows, columns, 1]), block,
                self._spec.block_pooling_function, "SAME", strides=block, name=f"{name}_pooled",
            )  # fmt: skip
            threshold, mask = self._updated(squeeze(pooled, axis=[0, 3]), threshold)
            mask = slice_(_expanded(mask, block), [0, 0], [rows, columns])
        return threshold, reshape(mask, shape(weights))

    def _updated(self, weights: Any, threshold: Any) -> tuple[Any, Any]:
        name, decay = weights.op.name, self._spec.threshold_decay
        sparsity = self._sparsity
        target = _matched(self._targets, name, "weight_sparsity_map")
        if target is not None:
            sparsity = make("Mul", sparsity, div(target, self._spec.target_sparsity))
        with name_scope(f"{name}_pruning_ops"):
            sizes = abs_(weights)
            kept = cast(size(sizes), dtypes.float32) * (1 - sparsity)
            count = cast(round_(kept), dtypes.int32)
            ordered, _ = top_k(reshape(sizes, [-1]), k=size(sizes))
            current = gather(ordered, count - 1)
            smoothed = add_n([multiply(current, 1 - decay), multiply(threshold, decay)])
            return smoothed, cast(greater_equal(sizes, smoothed), dtypes.float32)

    # ---- what it tells -------------------------------------------------------------------------

    def add_pruning_summaries(self) -> None:
        """Adds summaries of the wanted sparsity, and of every mask's and threshold."""
        with name_scope(f"{self._spec.name}_summaries"):
            scalar("sparsity", self._sparsity)
            scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds(), strict=True):
                scalar(f"{mask.op.name}/sparsity", zero_fraction(mask))
                scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Logs what it was told."""
        _LOG.info(self._spec.to_json())


def _expanded(tensor: Any, block: list[int]) -> Any:
    """Each element as a block, row by row and then column by column."""
    for factor in block:
        rows, columns = tensor.get_shape().as_list()
        order = [[row * factor + k] for k in range(factor) for row in range(rows)]
        tiled = tile(tensor, [factor, 1])
        tensor = transpose(scatter_nd(constant(order), tiled, [rows * factor, columns]), [1, 0])
    return tensor


def _check(spec: Any) -> None:
    if spec.begin_pruning_step < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if spec.begin_pruning_step >= spec.end_pruning_step != -1:
        raise ValueError(
            "Pruning must begin before it can end. begin_step="
            f"{spec.begin_pruning_step}, end_step={spec.end_pruning_step}. Set"
            " end_pruning_step to -1 if pruning is required till training stops"
        )
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0.0 <= getattr(spec, name) < 1.0:
            raise ValueError(f"{name} must be in range [0,1); found {getattr(spec, name)}")


def _targets(rows: Any) -> list[tuple[Any, float]]:
    found = []
    for row in filter(None, rows or []):
        pattern, target = row.split(":")
        if float(target) >= 1.0:
            raise ValueError("Weight sparsity can not exceed 1.0")
        found.append((re.compile(pattern), float(target)))
    return found


def _blocks(rows: Any) -> list[tuple[Any, list[int]]]:
    found = []
    for row in filter(None, rows or []):
        pattern, _, text = row.partition(":")
        dims = text.split("x")
        if len(dims) != 2:
            raise ValueError(f"Expected 2 values for block dim for {pattern}, got {text}")
        found.append((re.compile(pattern), [int(dim) for dim in dims]))
    return found


def _matched(rows: list[tuple[Any, Any]], name: str, what: str) -> Any:
    found = [value for pattern, value in rows if pattern.search(name)]
    if len(found) > 1:
        raise ValueError(f"Multiple matches in {what} for weight {name}")
    return found[0] if found else None
