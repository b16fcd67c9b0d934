"""OverFeat, its fast model: Sermanet et al. 2014.

Fully connected layers are convolutions, so that larger images give more than one prediction.
"""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import arg_scope
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.pooling import max_pool2d
from penstock.contrib.layers.regularizers import l2_regularizer
from penstock.contrib.slim.nets.plain import classified, ended, trunc_normal
from penstock.library.variables.initializers import constant_initializer, zeros_initializer
from penstock.library.variables.scoping import variable_scope
from penstock.ops.nn.activation import relu


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
    """The arguments of its layers, for ``slim.arg_scope``.

    Args:
      weight_decay: scale of the l2 loss of weights.
    """
    with arg_scope(
        [conv2d, fully_connected], activation_fn=relu,
        weights_regularizer=l2_regularizer(weight_decay),
        biases_initializer=zeros_initializer(),
    ):  # fmt: skip
        with arg_scope([conv2d], padding="SAME"):
            with arg_scope([max_pool2d], padding="VALID") as scope:
                return scope


def overfeat(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "overfeat",
) -> tuple[Any, Any]:
    """OverFeat.

    Args:
      inputs: [batch, height, width, 3]; 231 by 231 for one prediction.
      num_classes: number of classes.
      is_training: whether dropout drops anything.
      dropout_keep_prob: what it keeps.
      spatial_squeeze: whether height and width of the logits, both 1, are dropped.
      scope: variable scope.

    Returns:
      The logits, and the end points by name.
    """
    with variable_scope(scope, "overfeat", [inputs]) as sc:
        collection = f"{sc.name}_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=collection):
            net = conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [2, 2], scope="pool1")
            net = conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
            net = max_pool2d(net, [2, 2], scope="pool2")
            net = conv2d(net, 512, [3, 3], scope="conv3")
            net = conv2d(net, 1024, [3, 3], scope="conv4")
            net = conv2d(net, 1024, [3, 3], scope="conv5")
            net = max_pool2d(net, [2, 2], scope="pool5")
            with arg_scope(
                [conv2d], weights_initializer=trunc_normal(0.005),
                biases_initializer=constant_initializer(0.1),
            ):  # fmt: skip
                net = classified(
                    net, (3072, 4096), [6, 6], "VALID", num_classes, is_training,
                    dropout_keep_prob, {"biases_initializer": zeros_initializer()},
                )  # fmt: skip
            return ended(net, sc, collection, spatial_squeeze)


overfeat.default_image_size = 231  # type: ignore[attr-defined]
