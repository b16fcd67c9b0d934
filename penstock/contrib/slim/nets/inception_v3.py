"""Inception v3: Szegedy et al. 2015, "Rethinking the Inception architecture"."""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import arg_scope
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.pooling import avg_pool2d, max_pool2d
from penstock.contrib.layers.shaping import dropout, softmax
from penstock.contrib.slim.nets import inception_parts as parts
from penstock.contrib.slim.nets.inception_parts import Fork, Layer, trunc_normal as trunc_normal
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.squeeze import squeeze

_STRIDE = {"stride": 2}
_HALF = {"stride": 2, "padding": "VALID"}
_STEM = [
    Layer("Conv2d_1a_3x3", 32, more=_STRIDE), Layer("Conv2d_2a_3x3", 32),
    Layer("Conv2d_2b_3x3", 64, more={"padding": "SAME"}), Layer("MaxPool_3a_3x3", more=_STRIDE),
    Layer("Conv2d_3b_1x1", 80), Layer("Conv2d_4a_3x3", 192), Layer("MaxPool_5a_3x3", more=_STRIDE),
]  # fmt: skip


def _large(
    pooled: int, names: tuple[str, str] = ("Conv2d_0a_1x1", "Conv2d_0b_5x5")
) -> list[list[Layer]]:
    """The modules at 35 by 35."""
    return [
        [Layer("Conv2d_0a_1x1", 64)],
        [Layer(names[0], 48), Layer(names[1], 64)],
        [Layer("Conv2d_0a_1x1", 64), Layer("Conv2d_0b_3x3", 96), Layer("Conv2d_0c_3x3", 96)],
        [Layer("AvgPool_0a_3x3"), Layer("Conv2d_0b_1x1", pooled)],
    ]


def _middle(width: int) -> list[list[Layer]]:
    """The modules at 17 by 17."""
    return [
        [Layer("Conv2d_0a_1x1", 192)],
        [
            Layer("Conv2d_0a_1x1", width), Layer("Conv2d_0b_1x7", width),
            Layer("Conv2d_0c_7x1", 192),
        ],
        [
            Layer("Conv2d_0a_1x1", width), Layer("Conv2d_0b_7x1", width),
            Layer("Conv2d_0c_1x7", width), Layer("Conv2d_0d_7x1", width),
            Layer("Conv2d_0e_1x7", 192),
        ],
        [Layer("AvgPool_0a_3x3"), Layer("Conv2d_0b_1x1", 192)],
    ]  # fmt: skip


def _small(second: str) -> list[list[Layer | Fork]]:
    """The modules at 8 by 8."""
    return [
        [Layer("Conv2d_0a_1x1", 320)],
        [
            Layer("Conv2d_0a_1x1", 384),
            Fork([Layer("Conv2d_0b_1x3", 384), Layer(second, 384)]),
        ],
        [
            Layer("Conv2d_0a_1x1", 448), Layer("Conv2d_0b_3x3", 384),
            Fork([Layer("Conv2d_0c_1x3", 384), Layer("Conv2d_0d_3x1", 384)]),
        ],
        [Layer("AvgPool_0a_3x3"), Layer("Conv2d_0b_1x1", 192)],
    ]  # fmt: skip


# The published checkpoint's names are not regular: Mixed_5c, Mixed_6a and Mixed_7c.
_MODULES: list[tuple[str, Any]] = [
    ("Mixed_5b", _large(32)),
    ("Mixed_5c", _large(64, ("Conv2d_0b_1x1", "Conv_1_0c_5x5"))),
    ("Mixed_5d", _large(64)),
    (
        "Mixed_6a",
        [
            [Layer("Conv2d_1a_1x1", 384, [3, 3], more=_HALF)],
            [
                Layer("Conv2d_0a_1x1", 64), Layer("Conv2d_0b_3x3", 96),
                Layer("Conv2d_1a_1x1", 96, [3, 3], more=_HALF),
            ],
            [Layer("MaxPool_1a_3x3", more=_HALF)],
        ],
    ),
    ("Mixed_6b", _middle(128)),
    ("Mixed_6c", _middle(160)),
    ("Mixed_6d", _middle(160)),
    ("Mixed_6e", _middle(192)),
    (
        "Mixed_7a",
        [
            [Layer("Conv2d_0a_1x1", 192), Layer("Conv2d_1a_3x3", 320, more=_HALF)],
            [
                Layer("Conv2d_0a_1x1", 192), Layer("Conv2d_0b_1x7", 192),
                Layer("Conv2d_0c_7x1", 192), Layer("Conv2d_1a_3x3", 192, more=_HALF),
            ],
            [Layer("MaxPool_1a_3x3", more=_HALF)],
        ],
    ),
    ("Mixed_7b", _small("Conv2d_0b_3x1")),
    ("Mixed_7c", _small("Conv2d_0c_3x1")),
]  # fmt: skip


def inception_v3_base(
    inputs: Any,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Inception v3 up to an end point.

    Args:
      inputs: [batch, height, width, 3].
      final_endpoint: the last end point: a convolution or pooling, or a module "Mixed_...".
      min_depth: fewest channels of a layer.
      depth_multiplier: factor of all channels.
      scope: variable scope; default "InceptionV3".

    Returns:
      The end point, and all of them by name.

    Raises:
      ValueError: there is no such end point, or the factor is not positive.
    """
    depth = parts.depth_of(depth_multiplier, min_depth)
    kinds = [conv2d, max_pool2d, avg_pool2d]
    with variable_scope(scope, "InceptionV3", [inputs]):
        stages = parts.Stages(inputs, depth, final_endpoint)
        with arg_scope(kinds, stride=1, padding="VALID"):
            stages.layers(_STEM)
        with arg_scope(kinds, stride=1, padding="SAME"):
            stages.modules(_MODULES)
        return stages.result()


def inception_v3(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> tuple[Any, dict[str, Any]]:
    """Inception v3, with its auxiliary logits.

    Args:
      inputs: [batch, 299, 299, 3].
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
    depth = parts.depth_of(depth_multiplier, min_depth)
    with variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as sc:
        with arg_scope([batch_norm, dropout], is_training=is_training):
            net, end_points = inception_v3_base(
                inputs, scope=sc, min_depth=min_depth, depth_multiplier=depth_multiplier
            )
            end_points["AuxLogits"] = _auxiliary(
                end_points["Mixed_6e"], num_classes, depth, spatial_squeeze
            )
            with variable_scope("Logits"):
                kernel = parts.kernel_within(net, [8, 8])
                name = f"AvgPool_1a_{kernel[0]}x{kernel[1]}"
                net = avg_pool2d(net, kernel, padding="VALID", scope=name)
                net = dropout(net, dropout_keep_prob, scope="Dropout_1b")
                end_points["PreLogits"] = net
                logits = conv2d(
                    net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                    scope="Conv2d_1c_1x1",
                )  # fmt: skip
                if spatial_squeeze:
                    logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v3.default_image_size = 299  # type: ignore[attr-defined]


def _auxiliary(net: Any, num_classes: int, depth: parts.Depth, spatial_squeeze: bool) -> Any:
    with arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"):
        with variable_scope("AuxLogits"):
            net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
            net = conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
            kernel = parts.kernel_within(net, [5, 5])
            net = conv2d(
                net, depth(768), kernel, weights_initializer=trunc_normal(0.01), padding="VALID",
                scope=f"Conv2d_2a_{kernel[0]}x{kernel[1]}",
            )  # fmt: skip
            net = conv2d(
                net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                weights_initializer=trunc_normal(0.001), scope="Conv2d_2b_1x1",
            )  # fmt: skip
            return squeeze(net, [1, 2], name="SpatialSqueeze") if spatial_squeeze else net


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> Any:
    """The arguments of its layers, for ``slim.arg_scope``.

    Args:
      weight_decay: scale of the l2 loss of weights.
      batch_norm_var_collection: collection of the moving averages.
      batch_norm_decay, batch_norm_epsilon, updates_collections: of ``batch_norm``.
      use_fused_batchnorm: whether it uses the op that does it all.
    """
    given = parts.parameters(
        batch_norm_var_collection, decay=batch_norm_decay, epsilon=batch_norm_epsilon,
        updates_collections=updates_collections, fused=use_fused_batchnorm,
    )  # fmt: skip
    return parts.inception_arg_scope(weight_decay, given)
