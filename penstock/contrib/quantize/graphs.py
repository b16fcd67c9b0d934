"""Rewriting a graph, in place, for training or evaluation with fake quantization."""

from __future__ import annotations

import re
from typing import Any

from penstock.contrib.quantize.folding import fold_batch_norms
from penstock.contrib.quantize.inserting import quantize
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.scopes import get_default_graph

# Types of ops that train: fake quantization goes in before the gradients are made.
_TRAINS = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]\w*")


def create_training_graph(input_graph: Any = None, quant_delay: int = 0) -> None:
    """Rewrites a graph for training with 8-bit weights and activations, before its gradients.

    Args:
      input_graph: the graph; default the current one.
      quant_delay: number of steps after which values are quantized; until then they are watched.

    Raises:
      ValueError: the graph has a training op.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default() as graph:
      ...     images = tf.placeholder(tf.float32, [None, 8, 8, 3])
      ...     _ = tf.contrib.slim.conv2d(images, 4, [3, 3], scope="first")
      ...     tf.contrib.quantize.create_training_graph()
      ...     [op.inputs[0].name for op in graph.get_operations() if "FakeQuant" in op.type]
      ['first/weights/read:0', 'first/Relu:0']
    """
    _rewrite(input_graph, True, quant_delay)


def create_eval_graph(input_graph: Any = None) -> None:
    """Rewrites a graph for evaluation of what was trained so; then it can be frozen.

    Args:
      input_graph: the graph; default the current one.
    """
    _rewrite(input_graph, False, None)


def experimental_create_training_graph(
    input_graph: Any = None, weight_bits: int = 8, activation_bits: int = 8,
    symmetric: bool = False, quant_delay: int = 0, freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:  # fmt: skip
    """As ``create_training_graph``, with more to choose.

    Args:
      input_graph: the graph; default the current one.
      weight_bits, activation_bits: numbers of bits.
      symmetric: whether ranges are as wide below zero as above.
      quant_delay: number of steps after which values are quantized.
      freeze_bn_delay: number of steps after which batch normalization uses its moving averages and
        leaves them as they are; default never.
      scope: name scope that the layers must be in.
    """
    _rewrite(
        input_graph, True, quant_delay, weight_bits, activation_bits, symmetric, freeze_bn_delay,
        scope,
    )  # fmt: skip


def experimental_create_eval_graph(
    input_graph: Any = None, weight_bits: int = 8, activation_bits: int = 8,
    symmetric: bool = False, quant_delay: int | None = None, scope: str | None = None,
) -> None:  # fmt: skip
    """As ``create_eval_graph``, with more to choose.

    Args:
      input_graph: the graph; default the current one.
      weight_bits, activation_bits: numbers of bits.
      symmetric: whether ranges are as wide below zero as above.
      quant_delay: number of steps after which values are quantized, for a graph that goes on
        training.
      scope: name scope that the layers must be in.
    """
    _rewrite(input_graph, False, quant_delay, weight_bits, activation_bits, symmetric, None, scope)


def _rewrite(
    input_graph: Graph | None, is_training: bool, quant_delay: int | None, weight_bits: int = 8,
    activation_bits: int = 8, symmetric: bool = False, freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:  # fmt: skip
    graph = get_default_graph() if input_graph is None else input_graph
    found = {op.type for op in graph.get_operations() if _TRAINS.fullmatch(op.type)}
    if is_training and found:
        raise ValueError(f"Training op found in graph, exiting {found}")
    with graph.as_default():
        fold_batch_norms(graph, is_training, freeze_bn_delay)
        quantize(graph, is_training, quant_delay, weight_bits, activation_bits, symmetric, scope)
