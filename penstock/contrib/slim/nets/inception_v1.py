"""Inception v1 (GoogLeNet): Szegedy et al. 2014, "Going deeper with convolutions"."""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import arg_scope
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.pooling import avg_pool2d, max_pool2d
from penstock.contrib.layers.shaping import dropout, softmax
from penstock.contrib.slim.nets import inception_parts as parts
from penstock.contrib.slim.nets.inception_parts import Layer, trunc_normal as trunc_normal
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.squeeze import squeeze

_STRIDE = {"stride": 2}
_STEM = [
    Layer("Conv2d_1a_7x7", 64, more=_STRIDE), Layer("MaxPool_2a_3x3", more=_STRIDE),
    Layer("Conv2d_2b_1x1", 64), Layer("Conv2d_2c_3x3", 192), Layer("MaxPool_3a_3x3", more=_STRIDE),
]  # fmt: skip


def _mixed(widths: tuple[int, ...], third: str = "Conv2d_0b_3x3") -> list[list[Layer]]:
    a, b, c, d, e, f = widths
    return [
        [Layer("Conv2d_0a_1x1", a)],
        [Layer("Conv2d_0a_1x1", b), Layer("Conv2d_0b_3x3", c)],
        [Layer("Conv2d_0a_1x1", d), Layer(third, e)],
        [Layer("MaxPool_0a_3x3"), Layer("Conv2d_0b_1x1", f)],
    ]


_MODULES: list[tuple[str, Any]] = [
    ("Mixed_3b", _mixed((64, 96, 128, 16, 32, 32))),
    ("Mixed_3c", _mixed((128, 128, 192, 32, 96, 64))),
    ("", Layer("MaxPool_4a_3x3", more=_STRIDE)),
    ("Mixed_4b", _mixed((192, 96, 208, 16, 48, 64))),
    ("Mixed_4c", _mixed((160, 112, 224, 24, 64, 64))),
    ("Mixed_4d", _mixed((128, 128, 256, 24, 64, 64))),
    ("Mixed_4e", _mixed((112, 144, 288, 32, 64, 64))),
    ("Mixed_4f", _mixed((256, 160, 320, 32, 128, 128))),
    ("", Layer("MaxPool_5a_2x2", more=_STRIDE)),
    # The published checkpoint has this name for the second convolution of a branch.
    ("Mixed_5b", _mixed((256, 160, 320, 32, 128, 128), third="Conv2d_0a_3x3")),
    ("Mixed_5c", _mixed((384, 192, 384, 48, 128, 128))),
]


def inception_v1_base(
    inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1"
) -> tuple[Any, dict[str, Any]]:
    """Inception v1 up to an end point.

    Args:
      inputs: [batch, height, width, 3].
      final_endpoint: the last end point: a convolution or pooling, or a module "Mixed_...".
      scope: variable scope.

    Returns:
      The end point, and all of them by name.

    Raises:
      ValueError: there is no such end point.
    """
    with variable_scope(scope, "InceptionV1", [inputs]):
        with arg_scope([conv2d, fully_connected], weights_initializer=trunc_normal(0.01)):
            with arg_scope([conv2d, max_pool2d], stride=1, padding="SAME"):
                stages = parts.Stages(inputs, lambda width: width, final_endpoint)
                stages.layers(_STEM)
                stages.modules(_MODULES)
                return stages.result()


def inception_v1(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Any = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
) -> tuple[Any, dict[str, Any]]:
    """Inception v1.

    Args:
      inputs: [batch, 224, 224, 3].
      num_classes: number of classes.
      is_training: whether the batch's moments are used and dropout drops anything.
      dropout_keep_prob: what it keeps.
      prediction_fn: from logits to predictions.
      spatial_squeeze: whether height and width of the logits, both 1, are dropped.
      reuse: whether the variables exist already.
      scope: variable scope.

    Returns:
      The logits, and the end points by name.
    """
    with variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as sc:
        with arg_scope([batch_norm, dropout], is_training=is_training):
            net, end_points = inception_v1_base(inputs, scope=sc)
            with variable_scope("Logits"):
                net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
                net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
                logits = conv2d(
                    net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                    scope="Conv2d_0c_1x1",
                )  # fmt: skip
                if spatial_squeeze:
                    logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
                end_points["Logits"] = logits
                end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v1.default_image_size = 224  # type: ignore[attr-defined]


def inception_v1_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_var_collection: str = "moving_vars",
) -> Any:
    """The arguments of its layers, for ``slim.arg_scope``.

    Args:
      weight_decay: scale of the l2 loss of weights.
      use_batch_norm: whether convolutions are normalized.
      batch_norm_var_collection: collection of the moving averages.
    """
    given = parts.parameters(batch_norm_var_collection) if use_batch_norm else None
    return parts.inception_arg_scope(weight_decay, given)
