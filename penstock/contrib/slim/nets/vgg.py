"""VGG: Simonyan and Zisserman 2014; models A (11 layers), D (16) and E (19).

Fully connected layers are convolutions, so that larger images give more than one prediction.
"""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import arg_scope
from penstock.contrib.layers.composing import repeat
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.pooling import max_pool2d
from penstock.contrib.layers.regularizers import l2_regularizer
from penstock.contrib.slim.nets.plain import classified, ended
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.scoping import variable_scope
from penstock.ops.nn.activation import relu

_WIDTHS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """The arguments of its layers, for ``slim.arg_scope``.

    Args:
      weight_decay: scale of the l2 loss of weights.
    """
    with arg_scope(
        [conv2d, fully_connected], activation_fn=relu,
        weights_regularizer=l2_regularizer(weight_decay),
        biases_initializer=zeros_initializer(),
    ):  # fmt: skip
        with arg_scope([conv2d], padding="SAME") as scope:
            return scope


def _vgg(
    depths: tuple[int, ...], default: str, inputs: Any, num_classes: int, is_training: Any,
    dropout_keep_prob: float, spatial_squeeze: bool, scope: Any,
) -> tuple[Any, Any]:  # fmt: skip
    with variable_scope(scope, default, [inputs]) as sc:
        # As published: the largest model's collection has another name.
        prefix = sc.name if default == "vgg_19" else sc.original_name_scope
        collection = f"{prefix}_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=collection):
            net = inputs
            for index, (depth, width) in enumerate(zip(depths, _WIDTHS, strict=True), 1):
                net = repeat(net, depth, conv2d, width, [3, 3], scope=f"conv{index}")
                net = max_pool2d(net, [2, 2], scope=f"pool{index}")
            net = classified(
                net, (4096, 4096), [7, 7], "VALID", num_classes, is_training, dropout_keep_prob, {}
            )
            return ended(net, sc, collection, spatial_squeeze)


def vgg_a(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "vgg_a",
) -> tuple[Any, Any]:
    """VGG with 11 layers.

    Args:
      inputs: [batch, height, width, 3]; 224 by 224 for one prediction.
      num_classes: number of classes.
      is_training: whether dropout drops anything.
      dropout_keep_prob: what it keeps.
      spatial_squeeze: whether height and width of the logits, both 1, are dropped.
      scope: variable scope.

    Returns:
      The logits, and the end points by name.
    """
    return _vgg(
        (1, 1, 2, 2, 2), "vgg_a", inputs, num_classes, is_training, dropout_keep_prob,
        spatial_squeeze, scope,
    )  # fmt: skip


def vgg_16(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "vgg_16",
) -> tuple[Any, Any]:
    """VGG with 16 layers; arguments as ``vgg_a``."""
    return _vgg(
        (2, 2, 3, 3, 3), "vgg_16", inputs, num_classes, is_training, dropout_keep_prob,
        spatial_squeeze, scope,
    )  # fmt: skip


def vgg_19(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "vgg_19",
) -> tuple[Any, Any]:
    """VGG with 19 layers; arguments as ``vgg_a``."""
    return _vgg(
        (2, 2, 4, 4, 4), "vgg_19", inputs, num_classes, is_training, dropout_keep_prob,
        spatial_squeeze, scope,
    )  # fmt: skip


vgg_d = vgg_16
vgg_e = vgg_19
for _function in (vgg_a, vgg_16, vgg_19):
    _function.default_image_size = 224  # type: ignore[attr-defined]
