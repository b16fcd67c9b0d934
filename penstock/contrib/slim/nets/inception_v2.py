"""Inception v2: Ioffe and Szegedy 2015, "Batch normalization"."""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import arg_scope
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.pooling import avg_pool2d, max_pool2d
from penstock.contrib.layers.separable import separable_conv2d
from penstock.contrib.layers.shaping import dropout, softmax
from penstock.contrib.slim.nets import inception_parts as parts
from penstock.contrib.slim.nets.inception_parts import Layer, trunc_normal as trunc_normal
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.squeeze import squeeze

_STRIDE = {"stride": 2}
_STEM = [
    Layer("MaxPool_2a_3x3", more=_STRIDE), Layer("Conv2d_2b_1x1", 64, deviation=0.1),
    Layer("Conv2d_2c_3x3", 192), Layer("MaxPool_3a_3x3", more=_STRIDE),
]  # fmt: skip


def _first(width: int) -> Layer:
    return Layer("Conv2d_0a_1x1", width, deviation=0.09)


def _mixed(widths: tuple[int, ...], pool: str = "AvgPool_0a_3x3") -> list[list[Layer]]:
    a, b, c, d, e, f = widths
    return [
        [Layer("Conv2d_0a_1x1", a)],
        [_first(b), Layer("Conv2d_0b_3x3", c)],
        [_first(d), Layer("Conv2d_0b_3x3", e), Layer("Conv2d_0c_3x3", e)],
        [Layer(pool), Layer("Conv2d_0b_1x1", f, deviation=0.1)],
    ]


def _smaller(widths: tuple[int, int, int, int]) -> list[list[Layer]]:
    a, b, c, d = widths
    return [
        [_first(a), Layer("Conv2d_1a_3x3", b, more=_STRIDE)],
        [_first(c), Layer("Conv2d_0b_3x3", d), Layer("Conv2d_1a_3x3", d, more=_STRIDE)],
        [Layer("MaxPool_1a_3x3", more=_STRIDE)],
    ]


_MODULES: list[tuple[str, Any]] = [
    ("Mixed_3b", _mixed((64, 64, 64, 64, 96, 32))),
    ("Mixed_3c", _mixed((64, 64, 96, 64, 96, 64))),
    ("Mixed_4a", _smaller((128, 160, 64, 96))),
    ("Mixed_4b", _mixed((224, 64, 96, 96, 128, 128))),
    ("Mixed_4c", _mixed((192, 96, 128, 96, 128, 128))),
    ("Mixed_4d", _mixed((160, 128, 160, 128, 160, 96))),
    ("Mixed_4e", _mixed((96, 128, 192, 160, 192, 96))),
    ("Mixed_5a", _smaller((128, 192, 192, 256))),
    ("Mixed_5b", _mixed((352, 192, 320, 160, 224, 128))),
    ("Mixed_5c", _mixed((352, 192, 320, 192, 224, 128), pool="MaxPool_0a_3x3")),
]


def inception_v2_base(
    inputs: Any,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Inception v2 up to an end point.

    Args:
      inputs: [batch, height, width, 3].
      final_endpoint: the last end point: a convolution or pooling, or a module "Mixed_...".
      min_depth: fewest channels of a layer.
      depth_multiplier: factor of all channels.
      scope: variable scope; default "InceptionV2".

    Returns:
      The end point, and all of them by name.

    Raises:
      ValueError: there is no such end point, or the factor is not positive.
    """
    depth = parts.depth_of(depth_multiplier, min_depth)

    def first(net: Any) -> Any:
        return separable_conv2d(
            net, depth(64), [7, 7], depth_multiplier=min(int(depth(64) / 3), 8), stride=2,
            weights_initializer=trunc_normal(1.0), scope="Conv2d_1a_7x7",
        )  # fmt: skip

    with variable_scope(scope, "InceptionV2", [inputs]):
        with arg_scope(
            [conv2d, max_pool2d, avg_pool2d, separable_conv2d], stride=1, padding="SAME"
        ):
            stages = parts.Stages(inputs, depth, final_endpoint)
            stages.add("Conv2d_1a_7x7", first)
            stages.layers(_STEM)
            stages.modules(_MODULES)
            return stages.result()


def inception_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
) -> tuple[Any, dict[str, Any]]:
    """Inception v2.

    Args:
      inputs: [batch, 224, 224, 3].
      num_classes: number of classes.
      is_training: whether the batch's moments are used and dropout drops anything.
      dropout_keep_prob: what it keeps.
      min_depth: fewest channels of a layer.
      depth_multiplier: factor of all channels.
      prediction_fn: from logits to predictions.
      spatial_squeeze: whether height and width of the logits, both 1, are dropped.
      reuse: whether the variables exist already.
      scope: variable scope.

    Returns:
      The logits, and the end points by name.

    Raises:
      ValueError: the factor is not positive.
    """
    parts.depth_of(depth_multiplier, min_depth)
    with variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as sc:
        with arg_scope([batch_norm, dropout], is_training=is_training):
            net, end_points = inception_v2_base(
                inputs, scope=sc, min_depth=min_depth, depth_multiplier=depth_multiplier
            )
            with variable_scope("Logits"):
                kernel = parts.kernel_within(net, [7, 7])
                name = f"AvgPool_1a_{kernel[0]}x{kernel[1]}"
                net = avg_pool2d(net, kernel, padding="VALID", scope=name)
                net = dropout(net, dropout_keep_prob, scope="Dropout_1b")
                logits = conv2d(
                    net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                    scope="Conv2d_1c_1x1",
                )  # fmt: skip
                if spatial_squeeze:
                    logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v2.default_image_size = 224  # type: ignore[attr-defined]


def inception_v2_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"
) -> Any:
    """The arguments of its layers, for ``slim.arg_scope``.

    Args:
      weight_decay: scale of the l2 loss of weights.
      batch_norm_var_collection: collection of the moving averages.
    """
    return parts.inception_arg_scope(weight_decay, parts.parameters(batch_norm_var_collection))
