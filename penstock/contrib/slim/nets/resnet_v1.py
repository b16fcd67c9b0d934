"""ResNet v1: He et al. 2015, "Deep residual learning for image recognition"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope, arg_scope
from penstock.contrib.layers import plumbing
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.pooling import max_pool2d
from penstock.contrib.layers.shaping import softmax
from penstock.contrib.slim.nets import resnet_blocks as resnet_utils
from penstock.contrib.slim.nets.resnet_blocks import resnet_arg_scope as resnet_arg_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.math.reduction import reduce_mean
from penstock.ops.nn.activation import relu


@add_arg_scope
def bottleneck(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """A bottleneck unit: convolutions, each normalized, then the sum with the shortcut.

    Args:
      inputs: [batch, height, width, channels].
      depth: channels of the output.
      depth_bottleneck: channels inside.
      stride: steps of the unit.
      rate: steps between what its kernel reads.
      outputs_collections: collections of the output.
      scope: variable scope; default "bottleneck_v1".

    Returns:
      [batch, height / stride, width / stride, depth].
    """
    with variable_scope(scope, "bottleneck_v1", [inputs]) as sc:
        if depth == plumbing.last_dimension(inputs.get_shape(), min_rank=4):
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(
                inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut"
            )
        residual = conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(
            residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2"
        )
        residual = conv2d(residual, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        output = relu(shortcut + residual)
        return plumbing.collect_named_outputs(outputs_collections, sc.name, output)


def resnet_v1(
    inputs: Any,
    blocks: Sequence[resnet_utils.Block],
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: Any = None,
) -> tuple[Any, Any]:
    """A ResNet of given blocks.

    Args:
      inputs: [batch, height, width, 3].
      blocks: its blocks.
      num_classes: number of classes; None: no logits.
      is_training: whether the batch's moments are used.
      global_pool: whether the mean over height and width is taken.
      output_stride: how much smaller the output is at most; rates take the place of strides.
      include_root_block: whether it begins with a convolution and a pooling of stride 2 each.
      reuse: whether the variables exist already.
      scope: variable scope; default "resnet_v1".

    Returns:
      The output, and the end points by name.

    Raises:
      ValueError: ``output_stride`` is not a multiple of 4, or not reached.
    """
    with variable_scope(scope, "resnet_v1", [inputs], reuse=reuse) as sc:
        collection = f"{sc.original_name_scope}_end_points"
        with arg_scope(
            [conv2d, bottleneck, resnet_utils.stack_blocks_dense], outputs_collections=collection
        ):
            with arg_scope([batch_norm], is_training=is_training):
                net = inputs
                if include_root_block:
                    if output_stride is not None:
                        if output_stride % 4 != 0:
                            raise ValueError(
                                f"The output_stride needs to be a multiple of 4; found"
                                f" {output_stride}"
                            )
                        output_stride //= 4
                    net = resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")
                    net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
                net = resnet_utils.stack_blocks_dense(net, blocks, output_stride)
                if global_pool:
                    net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
                if num_classes is not None:
                    net = conv2d(
                        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                        scope="logits",
                    )  # fmt: skip
                end_points = plumbing.convert_collection_to_dict(collection)
                if num_classes is not None:
                    end_points["predictions"] = softmax(net, scope="predictions")
                return net, end_points


resnet_v1.default_image_size = 224  # type: ignore[attr-defined]


def resnet_v1_block(scope: str, base_depth: int, num_units: int, stride: int) -> resnet_utils.Block:
    """A block of bottleneck units; see ``resnet_blocks.bottlenecks``."""
    return resnet_utils.bottlenecks(scope, bottleneck, base_depth, num_units, stride)


def _blocks(counts: tuple[int, int, int, int]) -> list[resnet_utils.Block]:
    steps = (2, 2, 2, 1)
    return [resnet_v1_block(f"block{i + 1}", 64 * 2**i, counts[i], steps[i]) for i in range(4)]


def resnet_v1_50(
    inputs: Any,
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    reuse: Any = None,
    scope: Any = "resnet_v1_50",
) -> tuple[Any, Any]:
    """ResNet v1 with 50 layers; arguments as ``resnet_v1``."""
    return resnet_v1(
        inputs, _blocks((3, 4, 6, 3)), num_classes, is_training, global_pool, output_stride,
        include_root_block=True, reuse=reuse, scope=scope,
    )  # fmt: skip


def resnet_v1_101(
    inputs: Any,
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    reuse: Any = None,
    scope: Any = "resnet_v1_101",
) -> tuple[Any, Any]:
    """ResNet v1 with 101 layers; arguments as ``resnet_v1``."""
    return resnet_v1(
        inputs, _blocks((3, 4, 23, 3)), num_classes, is_training, global_pool, output_stride,
        include_root_block=True, reuse=reuse, scope=scope,
    )  # fmt: skip


def resnet_v1_152(
    inputs: Any,
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    reuse: Any = None,
    scope: Any = "resnet_v1_152",
) -> tuple[Any, Any]:
    """ResNet v1 with 152 layers; arguments as ``resnet_v1``."""
    return resnet_v1(
        inputs, _blocks((3, 8, 36, 3)), num_classes, is_training, global_pool, output_stride,
        include_root_block=True, reuse=reuse, scope=scope,
    )  # fmt: skip


def resnet_v1_200(
    inputs: Any,
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    reuse: Any = None,
    scope: Any = "resnet_v1_200",
) -> tuple[Any, Any]:
    """ResNet v1 with 200 layers; arguments as ``resnet_v1``."""
    return resnet_v1(
        inputs, _blocks((3, 24, 36, 3)), num_classes, is_training, global_pool, output_stride,
        include_root_block=True, reuse=reuse, scope=scope,
    )  # fmt: skip


for _function in (resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200):
    _function.default_image_size = 224  # type: ignore[attr-defined]
