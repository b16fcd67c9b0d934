"""Fake quantization: values rounded to what few bits can say, between ends that are watched.

The range of weights is that of this step's; the range of activations is a moving average.  Ranges
are variables, which evaluation reads.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from penstock.contrib.quantize.matching import ACTIVATIONS, SUMS, LayerMatch, layers_to_quantize
from penstock.contrib.quantize.rerouting import quantization_step, reroute
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors.dispatched import (
    greater_equal,
    maximum,
    minimum,
    reduce_max,
    reduce_min,
)
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import constant_initializer
from penstock.library.variables.scoping import variable_scope
from penstock.ops.quantized.quantization import fake_quant_with_min_max_vars
from penstock.ops.state.state import assign
from penstock.training.train.moving_averages import assign_moving_average

_LOG = logging.getLogger("penstock")
_EMA_DECAY = 0.999
_FAKE = "FakeQuantWithMinMaxVars"
# What hands quantized values on as they are.
_PASSES = ("Reshape", "Identity", "MaxPool", "BatchToSpaceND", "SpaceToBatchND")


def quantize(
    graph: Graph, is_training: bool, quant_delay: int | None, weight_bits: int,
    activation_bits: int, symmetric: bool, scope: str | None,
) -> None:  # fmt: skip
    """Puts fake quantization after weights and activations.

    Args:
      graph: the graph, which is the current one.
      is_training: whether ranges are watched.
      quant_delay: number of steps before values are quantized; None or 0 for none.
      weight_bits, activation_bits: numbers of bits.
      symmetric: whether ranges are as wide below zero as above.
      scope: name scope of the layers; None for all.
    """
    scope = f"{scope}/" if scope and not scope.endswith("/") else scope
    insert = _Inserter(is_training, quant_delay, weight_bits, activation_bits, symmetric, scope)
    done: set[Any] = set()
    for match in layers_to_quantize(graph):
        _quantize_layer(match, insert, done)
    for op in list(graph.get_operations()):
        if op not in done and _is_of_quantized(op):
            insert.activation(f"{op.name}", f"activation_{_named(op)}_quant", op)


def _named(op: Any) -> str:
    # TensorFlow says Add of both kinds.
    return "Add" if op.type in SUMS else str(op.type)


def _context(name: str) -> str:
    """The scope of a name: all before its last part."""
    match = re.search(r"^(.*)/([^/]+)", name)
    return match[1] if match else ""


def _quantize_layer(match: LayerMatch, insert: _Inserter, done: set[Any]) -> None:
    context = _context(match.layer.name)
    insert.weights(context, match.weights.op)
    above = _context(context) if match.bypass is not None else context
    insert.activation(above, "act_quant", match.activation, init_min=0.0)
    done.add(match.activation)
    if match.bypass is not None:
        insert.activation(context, "conv_quant", match.bias)
        done.add(match.bias)
        if not _activated(match.bypass):
            insert.activation(above, "add_quant", match.bypass)
            done.add(match.bypass)
    last = match.post_activation_bypass
    if last is not None and not _activated(last):
        insert.activation(_context(last.name), "post_activation_bypass_quant", last)
        done.add(last)


def _activated(op: Any) -> bool:
    return any(one.type in ACTIVATIONS for one in op.outputs[0].consumers())


def _is_of_quantized(op: Any) -> bool:
    """Whether it is a sum or product of quantized values that no activation takes."""
    if op.type not in (*SUMS, "Mul"):
        return False
    consumers = op.outputs[0].consumers()
    if len(consumers) == 1 and consumers[0].type in ("Relu", "Relu6"):
        return False
    return any(_is_quantized(tensor.op) for tensor in op.inputs)


def _is_quantized(op: Any) -> bool:
    while op.type in _PASSES:
        op = op.inputs[0].op
    delayed: bool = op.type == "Merge" and op.name.endswith("/delayed_quant/Merge")
    return op.type == _FAKE or delayed


class _Inserter:
    """Puts fake quantization between an op and its consumers; arguments as of ``quantize``."""

    def __init__(
        self, is_training: bool, quant_delay: int | None, weight_bits: int, activation_bits: int,
        symmetric: bool, scope: str | None,
    ) -> None:  # fmt: skip
        self._is_training, self._delay, self._scope = is_training, quant_delay, scope
        self._weight_bits, self._activation_bits = weight_bits, activation_bits
        self._symmetric = symmetric

    def weights(self, context: str, producer: Any) -> None:
        """Quantizes weights for the layers of the scope."""
        consumers = producer.outputs[0].consumers()
        if self._scope:
            consumers = [op for op in consumers if op.name.startswith(self._scope)]
            if not consumers:
                return
        self._insert(context, "weights_quant", producer, consumers, True, -6.0)

    def activation(self, context: str, name: str, producer: Any, init_min: float = -6.0) -> None:
        """Quantizes what an op of the scope makes."""
        if self._scope and not producer.name.startswith(self._scope):
            return
        consumers = producer.outputs[0].consumers()
        self._insert(context, name, producer, consumers, False, init_min)

    def _insert(
        self, context: str, name: str, producer: Any, consumers: list[Any], of_weights: bool,
        init_min: float,
    ) -> None:  # fmt: skip
        inputs = producer.outputs[0]
        # Bypasses of two layers may be the same.
        if any(op.type == _FAKE for op in inputs.consumers()):
            return
        prefix = f"{context}/{name}" if context else name
        quantized = self._quantized(inputs, prefix, of_weights, init_min)
        if self._delay:
            ready = greater_equal(quantization_step(), self._delay, name=f"{prefix}/activate_quant")
            plain = quantized
            quantized = cond(
                ready, lambda: plain, lambda: inputs, name=f"{prefix}/delayed_quant"
            )  # fmt: skip
        reroute(quantized, inputs, set(consumers))

    def _quantized(self, inputs: Any, prefix: str, of_weights: bool, init_min: float) -> Any:
        bits = self._weight_bits if of_weights else self._activation_bits
        with variable_scope(None, default_name=prefix, values=[inputs]) as scope:
            scope.set_partitioner(None)
            ends = [_end("min", init_min), _end("max", 6.0)]
            if self._is_training:
                lowest, highest = self._range(inputs, bits, of_weights)
                if of_weights:
                    ends = [
                        assign(ends[0], lowest, name="AssignMinLast"),
                        assign(ends[1], highest, name="AssignMaxLast"),
                    ]
                else:
                    ends = [
                        assign_moving_average(ends[0], lowest, _EMA_DECAY, name="AssignMinEma"),
                        assign_moving_average(ends[1], highest, _EMA_DECAY, name="AssignMaxEma"),
                    ]
            return fake_quant_with_min_max_vars(
                inputs, ends[0], ends[1], num_bits=bits, narrow_range=of_weights
            )

    def _range(self, inputs: Any, bits: int, narrow: bool) -> tuple[Any, Any]:
        """The ends of what comes in; zero lies between."""
        lowest, highest = reduce_min(inputs, name="BatchMin"), reduce_max(inputs, name="BatchMax")
        if not self._symmetric:
            return minimum(lowest, 0.0), maximum(highest, 0.0)
        ratio = -1.0 if narrow else -((1 << bits) - 2) / (1 << bits)
        return minimum(lowest, highest / ratio), maximum(highest, lowest * ratio)


def _end(name: str, value: float) -> Any:
    return get_variable(
        name, [], initializer=constant_initializer(value), trainable=False,
        collections=[GraphKeys.GLOBAL_VARIABLES],
    )  # fmt: skip
