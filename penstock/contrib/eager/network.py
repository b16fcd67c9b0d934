"""``tfe.Network`` and ``tfe.Sequential``: layers of layers, whose variables nest in their scopes.

The name of a network is final when it is first called, or when another network tracks it; layers
that it tracks are named among themselves alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from penstock.library.layer_base.layer import Layer as AnyLayer
from penstock.library.layer_base.scoped import Layer


class Network(Layer):
    """A layer of layers: a subclass tracks layers in ``__init__`` and calls them in ``call``.

    Args:
      name: its name; default the class's in snake case, made unique.

    Example:
      >>> import penstock as tf
      >>> class Two(tf.contrib.eager.Network):
      ...     def __init__(self):
      ...         super().__init__()
      ...         self.first = self.track_layer(tf.layers.Dense(2))
      ...     def call(self, x):
      ...         return self.first(x)
      >>> with tf.Graph().as_default():
      ...     two = Two()
      ...     _ = two(tf.ones([1, 3]))
      ...     [v.name for v in two.variables]
      ['two/dense/kernel:0', 'two/dense/bias:0']
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self._named = name is not None
        self._tracked: list[Any] = []
        self._beginnings: list[Callable[[], Any]] = []

    def begin_as(self, context: Callable[[], Any]) -> None:
        """Has the first call make the network's variables in a context that ``context`` gives."""
        self._beginnings.append(context)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What ``call`` gives; the first call makes the variables."""
        with ExitStack() as stack:
            for context in self._beginnings:
                stack.enter_context(context())
            self._beginnings.clear()
            return super().__call__(inputs, *args, **kwargs)

    @property
    def name(self) -> str:
        """Its name.

        Raises:
          ValueError: it is not final yet.
        """
        if not self._named and self._scope is None:
            raise ValueError(
                "The network does not yet have a final name, but a name was requested for it."
                " Networks get a name when they are added to another Network via track_layer, or"
                " when they are first called/built."
            )
        return str(self._name)

    @property
    def layers(self) -> list[Any]:
        """The layers that it tracks, in order."""
        return self._tracked

    def track_layer(self, layer: Any) -> Any:
        """Makes a layer's variables its own.

        Returns:
          The layer.

        Raises:
          TypeError: it is no layer.
        """
        if not isinstance(layer, AnyLayer):
            raise TypeError(
                "Network.track_layer() passed type"
                f" {type(layer)}, not a tf.layers.Layer: only layers and networks are tracked"
            )
        if isinstance(layer, Layer):
            layer.__dict__["_name"] = self._name_among(layer)
            if isinstance(layer, Network):
                layer._named = True
        self._tracked.append(layer)
        self._layers.append(layer)
        self._checkpoint_dependencies.append((layer.name, layer))
        return layer

    def _name_among(self, layer: Any) -> str:
        taken = {one.name for one in self._tracked}
        base, number = layer.__dict__["_base_name"], 0
        name = base
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        return str(name)

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A tracked layer by its name or its place.

        Raises:
          ValueError: there is none, or neither or both are given.
        """
        if (name is None) == (index is None):
            raise ValueError("Provide either a layer name or a layer index, and not both.")
        if index is not None:
            if len(self._tracked) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has"
                    f" {len(self._tracked)} layers."
                )
            return self._tracked[index]
        for layer in self._tracked:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        super()._set_scope(scope)
        if not self._named:
            self._name = self.scope_name.rpartition("/")[2]

    def add_variable(
        self, name: Any, shape: Any, dtype: Any = None, initializer: Any = None,
        regularizer: Any = None, trainable: bool = True, constraint: Any = None,
    ) -> Any:  # fmt: skip
        """Raises RuntimeError: a network's variables are those of its layers."""
        raise RuntimeError(
            f"add_variable not supported in Network class yet: asked for {name!r}; track a layer"
            " that has the variable"
        )


class Sequential(Network):
    """Layers and functions, one after the other.

    Args:
      layers_funcs: layers, and functions of one tensor.
      name: its name.
    """

    def __init__(self, layers_funcs: Sequence[Any] | None = None, name: str | None = None) -> None:
        super().__init__(name)
        self._steps: list[Any] = []
        for step in layers_funcs or ():
            self.add(step)

    def add(self, layer_func: Any) -> None:
        """Appends a layer or function.

        Raises:
          TypeError: it is neither.
        """
        if isinstance(layer_func, AnyLayer):
            takes = "training" in inspect.signature(layer_func.call).parameters
            self.track_layer(layer_func)
            self._steps.append((layer_func, takes))
        elif callable(layer_func):
            self._steps.append((layer_func, False))
        else:
            raise TypeError(
                "Sequential.add() takes only tf.layers.Layer objects or callables; not"
                f" '{layer_func}' of type '{type(layer_func)}'."
            )

    def call(self, inputs: Any, training: Any = None) -> Any:
        """What the last gives; ``training`` goes to the layers that take it."""
        for step, takes in self._steps:
            inputs = step(inputs, training=training) if takes else step(inputs)
        return inputs
