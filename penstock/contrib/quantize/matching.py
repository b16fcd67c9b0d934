"""Layers of a graph whose weights and activations are quantized, and what follows them.

A layer is a convolution or matrix product of weights: a variable, or what a normalization was
folded into.  After it may come a bias, a bypass (something that is added), an activation, and a
bypass after that.  What is found first has a layer: a bypass after an activation, an activation, a
bias without one, and last a depthwise convolution right before another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.contrib.quantize.folding import LAYERS
from penstock.foundation.graph.graph import Graph

ACTIVATIONS = ("Relu", "Relu6", "Identity")
SUMS = ("Add", "AddV2")
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


@dataclass(frozen=True)
class LayerMatch:
    """Ops: a layer, the bias after it, its activation, and what is added before and after that."""

    layer: Any
    activation: Any
    bypass: Any = None
    post_activation_bypass: Any = None
    bias: Any = None

    @property
    def weights(self) -> Any:
        """The tensor of the weights."""
        return self.layer.inputs[1]


def layers_to_quantize(graph: Graph) -> list[LayerMatch]:
    """The layers of a graph, each once."""
    found: dict[Any, LayerMatch] = {}
    ops = list(graph.get_operations())
    for search in (_after_activation, _activated, _biased_last, _separable):
        for op in ops:
            for match in search(op):
                if match.layer not in found:
                    found[match.layer] = match
                    break
    return list(found.values())


def _after_activation(op: Any) -> Iterator[LayerMatch]:
    if op.type not in SUMS:
        return
    for tensor in reversed(op.inputs):
        for match in _activated(tensor.op):
            yield LayerMatch(match.layer, match.activation, match.bypass, op, match.bias)


def _activated(op: Any) -> Iterator[LayerMatch]:
    if op.type not in ACTIVATIONS or not op.inputs:
        return
    below = op.inputs[0].op
    layer = _biased(below) or _layer(below)
    if layer is not None:
        yield LayerMatch(layer, op, bias=below)
    elif below.type in SUMS:
        for tensor in below.inputs:
            layer = _biased(tensor.op) or _layer(tensor.op)
            if layer is not None:
                yield LayerMatch(layer, op, below, bias=tensor.op)


def _biased_last(op: Any) -> Iterator[LayerMatch]:
    layer = _biased(op)
    if layer is not None:
        yield LayerMatch(layer, op, bias=op)


def _separable(op: Any) -> Iterator[LayerMatch]:
    if op.type != "Conv2D":
        return
    below = op.inputs[0].op
    if below.type == "DepthwiseConv2dNative" and _layer(below) is not None:
        yield LayerMatch(below, below)


def _biased(op: Any) -> Any:
    """The layer that a bias, or what folding has made of one, is added to, or None."""
    if op.type == "BiasAdd":
        return _layer(op.inputs[0].op)
    if op.type not in SUMS:
        return None
    for tensor in op.inputs:
        layer = _layer(tensor.op) or _corrected(tensor.op)
        if layer is not None:
            return layer
    return None


def _corrected(op: Any) -> Any:
    """The layer of ``layer * correction + offset``."""
    if op.type not in SUMS:
        return None
    for tensor in op.inputs:
        if tensor.op.type == "Mul":
            for factor in tensor.op.inputs:
                layer = _layer(factor.op)
                if layer is not None:
                    return layer
    return None


def _layer(op: Any) -> Any:
    if op.type == "BatchToSpaceND" or (
        op.type == "Reshape" and op.inputs[0].op.type == "MatMul"
    ):  # fmt: skip
        op = op.inputs[0].op
    if op.type not in LAYERS or not _weights(op.inputs[1].op):
        return None
    return op


def _weights(op: Any) -> bool:
    if op.type in ("ReadVariableOp", "Mul"):
        return True
    return op.type == "Identity" and (
        op.inputs[0].op.type in _VARIABLES or _weights(op.inputs[0].op)
    )
