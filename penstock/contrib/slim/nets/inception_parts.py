"""What the Inception networks share: modules of branches, as tables, and how their layers are made.

A layer of a table is its scope's name, which says its kind and kernel ("Conv2d_0b_1x7": a
convolution of 1 by 7), its width, and arguments that are not the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from penstock.contrib.framework.argument_scopes import arg_scope
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.initializers import variance_scaling_initializer
from penstock.contrib.layers.pooling import avg_pool2d, max_pool2d
from penstock.contrib.layers.regularizers import l2_regularizer
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.initializers import truncated_normal_initializer
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.join import concat
from penstock.ops.nn.activation import relu

_POOLS = {"MaxPool": max_pool2d, "AvgPool": avg_pool2d}


def trunc_normal(stddev: float) -> Any:
    """An initializer: a truncated normal around 0."""
    return truncated_normal_initializer(0.0, stddev)


class Layer(NamedTuple):
    """A layer of a branch.

    Attributes:
      name: its scope; the end says the kernel.
      width: its channels, before the network's multiplier; None of a pooling.
      kernel: the kernel, where the name says another.
      deviation: of the initial weights, where it is not the default.
      more: other arguments.
    """

    name: str
    width: int | None = None
    kernel: list[int] | None = None
    deviation: float | None = None
    more: Any = ()


class Fork(NamedTuple):
    """Layers side by side, whose outputs are joined, at the end of a branch.

    Attributes:
      layers: the layers.
    """

    layers: Sequence[Layer]


Depth = Callable[[int], int]


def layer(net: Any, spec: Layer, depth: Depth) -> Any:
    """One layer.

    Args:
      net: its input.
      spec: what it is.
      depth: from a width to the channels of this network.
    """
    kind, size = spec.name.partition("_")[0], spec.name.rpartition("_")[2]
    kernel = spec.kernel or [int(one) for one in size.split("x")]
    more = dict(spec.more)
    if kind in _POOLS:
        return _POOLS[kind](net, kernel, scope=spec.name, **more)
    if spec.deviation is not None:
        more["weights_initializer"] = trunc_normal(spec.deviation)
    assert spec.width is not None
    return conv2d(net, depth(spec.width), kernel, scope=spec.name, **more)


def module(net: Any, name: str, branches: Iterable[Sequence[Layer | Fork]], depth: Depth) -> Any:
    """A module: branches from one input, whose outputs are joined along the channels.

    Args:
      net: the input.
      name: variable scope.
      branches: the layers of each branch.
      depth: from a width to the channels of this network.
    """
    with variable_scope(name):
        ends = []
        for index, branch in enumerate(branches):
            with variable_scope(f"Branch_{index}"):
                end = net
                for spec in branch:
                    if isinstance(spec, Fork):
                        end = concat([layer(end, one, depth) for one in spec.layers], 3)
                    else:
                        end = layer(end, spec, depth)
            ends.append(end)
        return concat(ends, 3)


class Stages:
    """A network stage by stage, up to its last end point.

    Args:
      net: the input.
      depth: from a width to the channels of this network.
      final_endpoint: the last stage to make.
    """

    def __init__(self, net: Any, depth: Depth, final_endpoint: str) -> None:
        self.net, self.depth, self.final_endpoint = net, depth, final_endpoint
        self.end_points: dict[str, Any] = {}

    def reached(self) -> bool:
        """Whether the last stage was made."""
        return self.final_endpoint in self.end_points

    def add(self, name: str, make: Callable[[Any], Any]) -> None:
        """Makes a stage, unless the last one was made.

        Args:
          name: the stage.
          make: from its input to its output.
        """
        if not self.reached():
            self.net = self.end_points[name] = make(self.net)

    def layers(self, specs: Iterable[Layer]) -> None:
        """Makes stages of one layer each."""
        for spec in specs:
            self.add(spec.name, lambda net, spec=spec: layer(net, spec, self.depth))  # type: ignore[misc]

    def modules(self, specs: Iterable[tuple[str, Any]]) -> None:
        """Makes stages of a module, or of a layer where there are no branches."""
        for name, branches in specs:
            if isinstance(branches, Layer):
                self.layers([branches])
            else:
                self.add(
                    name,
                    lambda net, name=name, branches=branches: module(  # type: ignore[misc]
                        net, name, branches, self.depth
                    ),
                )

    def result(self) -> tuple[Any, dict[str, Any]]:
        """The last stage and all end points.

        Raises:
          ValueError: there is no such stage.
        """
        if not self.reached():
            raise ValueError(f"Unknown final endpoint {self.final_endpoint}")
        return self.net, self.end_points


def depth_of(depth_multiplier: float, min_depth: int) -> Depth:
    """From a width to channels: multiplied, but not below ``min_depth``.

    Raises:
      ValueError: the multiplier is not positive.
    """
    if depth_multiplier <= 0:
        raise ValueError(f"depth_multiplier is not greater than zero.; found {depth_multiplier}")
    return lambda width: max(int(width * depth_multiplier), min_depth)


def kernel_within(net: Any, kernel: list[int]) -> list[int]:
    """``kernel``, not larger than the image where that is known."""
    sizes = net.get_shape().as_list()
    if sizes[1] is None or sizes[2] is None:
        return kernel
    return [min(sizes[1], kernel[0]), min(sizes[2], kernel[1])]


def parameters(collection: str, **more: Any) -> dict[str, Any]:
    """The arguments of batch norm.

    Args:
      collection: where the moving averages are.
      **more: other arguments.
    """
    return {
        "decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS,
        "variables_collections": {
            "beta": None, "gamma": None, "moving_mean": [collection],
            "moving_variance": [collection],
        },
        **more,
    }  # fmt: skip


def inception_arg_scope(weight_decay: float, normalizer_params: dict[str, Any] | None) -> Any:
    """The arguments of an Inception's layers, for ``slim.arg_scope``.

    Args:
      weight_decay: scale of the l2 loss of weights.
      normalizer_params: of batch norm; None: there is none.
    """
    normalizer = None if normalizer_params is None else batch_norm
    regularizer = l2_regularizer(weight_decay)
    with arg_scope([conv2d, fully_connected], weights_regularizer=regularizer):
        with arg_scope(
            [conv2d], weights_initializer=variance_scaling_initializer(), activation_fn=relu,
            normalizer_fn=normalizer, normalizer_params=normalizer_params or {},
        ) as scope:  # fmt: skip
            return scope
