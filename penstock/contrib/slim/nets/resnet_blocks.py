"""Blocks of residual units, as both versions of ResNet stack them: ``slim.nets.resnet_utils``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from penstock.contrib.framework.argument_scopes import add_arg_scope, arg_scope
from penstock.contrib.layers import plumbing
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.initializers import variance_scaling_initializer
from penstock.contrib.layers.pooling import max_pool2d
from penstock.contrib.layers.regularizers import l2_regularizer
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.pad import pad
from penstock.ops.nn.activation import relu


class Block(NamedTuple):
    """A block of units.

    Attributes:
      scope: its variable scope.
      unit_fn: makes one unit of an input and the unit's arguments.
      args: the arguments of each unit.
    """

    scope: str
    unit_fn: Callable[..., Any]
    args: Sequence[Mapping[str, Any]]


def bottlenecks(
    scope: str, unit_fn: Callable[..., Any], base_depth: int, num_units: int, stride: int
) -> Block:
    """A block of bottleneck units, the last of which takes the stride.

    Args:
      scope: variable scope.
      unit_fn: ``bottleneck`` of either version.
      base_depth: channels of the bottleneck, a quarter of the output's.
      num_units: number of units.
      stride: that of the last unit.
    """
    steps = [1] * (num_units - 1) + [stride]
    units = [
        {"depth": base_depth * 4, "depth_bottleneck": base_depth, "stride": step} for step in steps
    ]
    return Block(scope, unit_fn, units)


def subsample(inputs: Any, factor: int, scope: Any = None) -> Any:
    """Every ``factor``-th row and column.

    Args:
      inputs: [batch, height, width, channels].
      factor: step; 1 returns ``inputs``.
      scope: name scope.
    """
    if factor == 1:
        return inputs
    return max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None
) -> Any:
    """A convolution whose padding does not depend on the size of the image.

    Args:
      inputs: [batch, height, width, channels].
      num_outputs: channels of the output.
      kernel_size: size of the kernel in both directions.
      stride: steps.
      rate: steps between what the kernel reads.
      scope: variable scope.

    Returns:
      [batch, height / stride, width / stride, num_outputs], rounded up.
    """
    if stride == 1:
        return conv2d(
            inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope
        )
    total = (kernel_size - 1) * rate
    before = total // 2
    margin = [before, total - before]
    padded = pad(inputs, [[0, 0], margin, margin, [0, 0]])
    return conv2d(
        padded, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope
    )


@add_arg_scope
def stack_blocks_dense(
    net: Any,
    blocks: Sequence[Block],
    output_stride: int | None = None,
    outputs_collections: Any = None,
) -> Any:
    """Blocks one after another; from ``output_stride`` on, rates take the place of strides.

    Args:
      net: [batch, height, width, channels].
      blocks: the blocks.
      output_stride: how much smaller the output is at most; None for all strides.
      outputs_collections: collections of the output of each block.

    Returns:
      The output of the last.

    Raises:
      ValueError: ``output_stride`` is not reached.
    """
    stride_now = rate = 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as sc:
            for index, unit in enumerate(block.args, 1):
                if output_stride is not None and stride_now > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                with variable_scope(f"unit_{index}", values=[net]):
                    step = unit.get("stride", 1)
                    if output_stride is not None and stride_now == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= step
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        stride_now *= step
            net = plumbing.collect_named_outputs(outputs_collections, sc.name, net)
    if output_stride is not None and stride_now != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Any:
    """The arguments of a ResNet's layers, for ``slim.arg_scope``.

    Args:
      weight_decay: scale of the l2 loss of weights.
      batch_norm_decay, batch_norm_epsilon, batch_norm_scale: of ``batch_norm``.
    """
    parameters = {
        "decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }  # fmt: skip
    with arg_scope(
        [conv2d], weights_regularizer=l2_regularizer(weight_decay),
        weights_initializer=variance_scaling_initializer(), activation_fn=relu,
        normalizer_fn=batch_norm, normalizer_params=parameters,
    ):  # fmt: skip
        with arg_scope([batch_norm], **parameters):
            with arg_scope([max_pool2d], padding="SAME") as scope:
                return scope
