"""``tf.layers.Layer``: a layer whose variables are those of a variable scope.

The scope is chosen when the layer is first called, under the variable scope of that moment, and
named after the class (``Dense``: ``dense``) or the layer.  Variables are made by the first call
(``build``, or ``get_variable`` inside ``call``); later calls share them.  Nodes go to the name
scope that was opened with the variable scope, in every call.

State of a layer, besides a Keras layer's: its variable scope.  State of the process: whether
layers are made in the style of Keras, where names and variables are as Keras layers have them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, nest, scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.layer_base import layer as keras, names, weights as making
from penstock.library.variables import getting, listing
from penstock.library.variables.partition import PartitionedVariable
from penstock.library.variables.scope import VariableScope
from penstock.library.variables.scoping import variable_scope
from penstock.library.variables.variable import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)

_style = {"keras": False}


@contextmanager
def keras_style_scope() -> Iterator[None]:
    """Layers made in the ``with`` block have names and variables as Keras layers have them.

    Such a layer's variables are resource variables under its unique name, and belong to it alone:
    calling it again shares them, and making a like layer does not.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.layers.experimental.keras_style_scope():
      ...     layers = [tf.layers.Dense(2, name="same") for _ in range(2)]
      ...     _ = [layer(tf.ones([1, 3])) for layer in layers]
      ...     layers[0].kernel is layers[1].kernel
      False
    """
    saved = _style["keras"]
    _style["keras"] = True
    try:
        yield
    finally:
        _style["keras"] = saved


def set_keras_style() -> None:
    """From now on layers are made in the style of Keras; see ``keras_style_scope``."""
    _style["keras"] = True


class Layer(keras.Layer):
    """A layer in a variable scope; see the module.

    Args:
      trainable: whether its variables are trainable.
      name: name of its variable scope, made unique; default the class's name in snake case.
      dtype: element type of its variables; default that of its first input.
      **kwargs: ``_reuse``, ``_scope``; what Keras layers take.

    Raises:
      TypeError: an argument that no layer takes.
      ValueError: ``_reuse`` or ``_scope`` in the style of Keras.

    Example:
      >>> import penstock as tf
      >>> class Scale(tf.layers.Layer):
      ...     def build(self, input_shape):
      ...         self.factor = self.add_weight("factor", [], initializer=tf.ones_initializer())
      ...         self.built = True
      ...     def call(self, inputs):
      ...         return inputs * self.factor
      >>> with tf.Graph().as_default(), tf.variable_scope("outer"):
      ...     y = Scale()(tf.constant([1.0, 2.0]))
      ...     y.name, [v.name for v in tf.trainable_variables()]
      ('outer/scale/mul:0', ['outer/scale/factor:0'])
    """

    _keras_style: bool
    _reuse: Any
    _scope: VariableScope | None
    _current_scope: VariableScope | None
    _use_resource_variables: bool

    def __init__(
        self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        scope, reuse = kwargs.pop("_scope", None), kwargs.pop("_reuse", None)
        self.__dict__.update(
            _use_resource_variables=False, _reuse=reuse, _scope=None, _current_scope=None,
            _keras_style=_style["keras"],
        )  # fmt: skip
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        if self._keras_style:
            for word, value in (("scope", scope), ("reuse", reuse)):
                if value is not None:
                    raise ValueError(
                        f"{word} argument not allowed when keras style layers are enabled, but"
                        f" saw: {value}"
                    )
        elif scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    def __setattr__(self, name: str, value: Any) -> None:
        # Attributes are not tracked: what ``add_weight`` makes is what a checkpoint finds.
        object.__setattr__(self, name, value)

    def _init_set_name(self, name: Any) -> None:
        made = names.snake_case(type(self).__name__)
        self._base_name = name.name if isinstance(name, VariableScope) else name or made
        given = name if name and not isinstance(name, VariableScope) else None
        self._name = given or names.unique_name(made, zero_based=False)

    @property
    def graph(self) -> None:
        """None: layers do not belong to a graph any more."""
        return None

    @property
    def scope_name(self) -> str:
        """Prefix of its variables' names.

        Raises:
          ValueError: the layer was not called yet.
        """
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self.name}" has not been'
                " used yet. The scope name  is determined the first time the layer instance is"
                " called. You must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name

    # ---- losses and variables ------------------------------------------------------------------

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses, also to the collection REGULARIZATION_LOSSES; see ``tf.keras``'s."""
        known, known_callables = len(self._losses), len(self._callable_losses)
        super().add_loss(losses, inputs=inputs)
        made = [loss() for loss in self._callable_losses[known_callables:]]
        added = [*self._losses[known:], *(loss for loss in made if loss is not None)]
        _collect(added, GraphKeys.REGULARIZATION_LOSSES)

    def add_weight(  # type: ignore[override]
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        partitioner: Any = None,
        **kwargs: Any,
    ) -> Any:
        """The variable ``name`` of this layer's scope; arguments as of ``tf.get_variable``.

        Returns:
          The variable.
        """
        for key in kwargs:
            if key != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", key)
        if self._keras_style:
            return super().add_weight(
                name=name, shape=shape, dtype=dtype, initializer=initializer,
                regularizer=regularizer, trainable=trainable and self.trainable,
                constraint=constraint, use_resource=use_resource, partitioner=partitioner,
            )  # fmt: skip
        trainable = making.resolved_trainable(trainable, synchronization)
        known = set(listing.global_variables())
        self._set_scope(None)
        reuse = self.built or self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as current:
            self._current_scope = current
            with scopes.name_scope(self._name_scope()):
                variable = super().add_weight(
                    name, shape, dtype=dtypes.as_dtype(dtype or self.dtype or dtypes.float32),
                    initializer=current.initializer if initializer is None else initializer,
                    trainable=trainable and self.trainable, constraint=constraint,
                    partitioner=partitioner, synchronization=synchronization,
                    use_resource=use_resource or self._use_resource_variables
                    or current.use_resource,
                    aggregation=aggregation, getter=getting.get_variable,
                )  # fmt: skip
                parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
                if regularizer and not any(part in known for part in parts):
                    self._regularize(name, variable, regularizer)
                self._sort(variable)
        return variable

    def _sort(self, variable: Any) -> None:
        """What a custom getter has made of a variable decides whether it counts as trainable.

        The whole of a partitioned one never does, as in TensorFlow 1.15.
        """
        if scopes.get_default_graph().executes:
            return  # nothing is collected where calls run
        trainable = listing.trainable_variables()
        mine = self._trainable_weights
        if any(v is variable for v in mine) and not any(v is variable for v in trainable):
            self._trainable_weights = [v for v in mine if v is not variable]
            self._non_trainable_weights.append(variable)

    # ---- calls ---------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Builds the layer if that was not done yet, and calls it.

        Args:
          inputs: a tensor, or a nesting of tensors.
          *args, **kwargs: for ``call``; ``scope`` names the variable scope in the first call.
        """
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            if scope is not None:
                raise ValueError(
                    "scope argument not allowed when keras style layers are enabled, but saw:"
                    f" {scope}"
                )
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(scope)
        with self._entered_scope() as current:
            self._current_scope = current
            if "scope" in self.call_arguments:
                kwargs["scope"] = current
            outputs = super().__call__(inputs, *args, **kwargs)
        _collect(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    def _entered_scope(self) -> Any:
        if not self.built:
            return variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        if "_always_reuse_variable_scope" not in self.__dict__:
            self._always_reuse_variable_scope = variable_scope(
                self._scope, reuse=True, auxiliary_name_scope=False
            )
        return self._always_reuse_variable_scope

    def _name_scope(self) -> str:
        if self._keras_style:
            return super()._name_scope()
        assert self._current_scope is not None
        return self._current_scope.original_name_scope

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            opened = variable_scope(self._base_name if scope is None else scope)
        else:
            opened = variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for key, value in self.__dict__.items():
            if isinstance(value, VariableScope | variable_scope):
                copied: Any = copy.copy(value)
            elif _of_graph(value):
                copied = list(value) if isinstance(value, list) else value
            else:
                copied = copy.deepcopy(value, memo)
            made.__dict__[key] = copied
        return made


def _of_graph(value: Any) -> bool:
    """Whether a value is of the graph, which a copy shares: tensors, variables, lists of them."""
    if isinstance(value, list | tuple):
        # The names beside what checkpoints find are no reason to copy.
        return any(_of_graph(one) for one in value)
    return isinstance(value, Tensor | Variable | PartitionedVariable | Operation)


def _collect(items: Iterable[Any], collection: str) -> None:
    """Adds what a collection does not have yet."""
    found = collecting.get_collection_ref(collection)
    known = {id(item) for item in found}
    for item in nest.flatten(list(items)):
        if id(item) not in known:
            known.add(id(item))
            found.append(item)
