"""What the plain networks (AlexNet, OverFeat, VGG) share: their end and their arguments."""

from __future__ import annotations

from typing import Any

from penstock.contrib.layers import plumbing
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.shaping import dropout
from penstock.library.variables.initializers import truncated_normal_initializer
from penstock.ops.array.squeeze import squeeze


def trunc_normal(stddev: float) -> Any:
    """The initializer of their kernels: a truncated normal around 0."""
    return truncated_normal_initializer(0.0, stddev)


def classified(
    net: Any, widths: tuple[int, int], kernel: Any, first_padding: str, num_classes: int,
    is_training: Any, keep_prob: float, last_start: dict[str, Any],
) -> Any:  # fmt: skip
    """The three convolutions at the end, which do what fully connected layers do.

    Args:
      net: features.
      widths: channels of the first two.
      kernel: size of the first.
      first_padding: its padding.
      num_classes: channels of the last.
      is_training: whether dropout drops anything.
      keep_prob: what it keeps.
      last_start: initializers of the last.
    """
    net = conv2d(net, widths[0], kernel, padding=first_padding, scope="fc6")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout6")
    net = conv2d(net, widths[1], [1, 1], scope="fc7")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout7")
    return conv2d(
        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last_start
    )


def ended(net: Any, scope: Any, collection: str, spatial_squeeze: bool) -> tuple[Any, Any]:
    """The logits and the end points.

    Args:
      net: [batch, height, width, classes].
      scope: variable scope of the network.
      collection: where its end points are.
      spatial_squeeze: whether height and width, both 1, are dropped.
    """
    end_points = plumbing.convert_collection_to_dict(collection)
    if spatial_squeeze:
        net = squeeze(net, [1, 2], name="fc8/squeezed")
        end_points[f"{scope.name}/fc8"] = net
    return net, end_points
