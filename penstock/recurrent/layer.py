"""What a cell is as a layer: a variable scope of its own, and the variables made in it.

The scope is chosen when the layer is first called, under the variable scope of that moment, and
named after the class (``BasicLSTMCell``: ``basic_lstm_cell``) or the layer.  Variables are made by
the first call (``build``, or ``get_variable`` inside ``call``); later calls share them.  Nodes go
to the name scope that was opened with the variable scope, in every call.

State of a layer: its variable scope, its weights and losses.  State of a graph: how many layers of
each name it has, for the names of layers that have none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.base import dtypes
from penstock.graph import nest, scopes
from penstock.graph.convert import convert_to_tensor
from penstock.graph.graph import Graph
from penstock.graph.tensor import Tensor
from penstock.variables import scope as variable_scopes
from penstock.variables.scope import VariableScope, variable_scope
from penstock.variables.variable import VariableAggregation, VariableSynchronization

_COUNTS = "recurrent.layer_names"
# What Keras layers take besides; none of them means anything to a cell.
_IGNORED = {
    "_scope", "_reuse", "activity_regularizer", "autocast", "batch_input_shape", "batch_size",
    "input_shape", "weights",
}  # fmt: skip


def snake_case(name: str) -> str:
    """``BasicLSTMCell`` as ``basic_lstm_cell``; a private name gets the prefix ``private``."""
    separated = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    text = re.sub(r"([a-z])([A-Z])", r"\1_\2", separated).lower()
    return f"private{text}" if text.startswith("_") else text


def _unique_name(base: str) -> str:
    counts: dict[str, int] = scopes.get_default_graph().attached.setdefault(_COUNTS, {})
    counts[base] = counts.get(base, 0) + 1
    return f"{base}_{counts[base]}"


class Layer:
    """A callable with variables of its own; see the module.

    Args:
      trainable: whether its variables are trainable.
      name: name of its variable scope, made unique; default the class's name in snake case.
      dtype: element type of its variables; default that of its first input.
      **kwargs: ``_reuse``, ``_scope``; what Keras layers take is ignored.

    Raises:
      TypeError: an argument that no layer takes.
    """

    # Rank that the input must have; None does not say.
    _input_rank: int | None = None

    def __init__(
        self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        for key in kwargs:
            if key not in _IGNORED:
                raise TypeError("Keyword argument not understood:", key)
        self.trainable = trainable
        self.built = False
        self._reuse: Any = kwargs.get("_reuse")
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._losses: list[Any] = []
        # (local name, object), as object-based checkpoints find variables.
        self._checkpoint_dependencies: list[tuple[str, Any]] = []
        self._updates: list[Any] = []
        self._scope: VariableScope | None = None
        self._current_scope: VariableScope | None = None
        self._sharing_scope: Any = None
        self._graph: Graph | None = None
        self._name, self._base_name = self._names(name)
        if kwargs.get("_scope") is not None:
            self._set_scope(kwargs["_scope"])

    def _names(self, name: Any) -> tuple[str, str]:
        if isinstance(name, VariableScope):
            return _unique_name(snake_case(type(self).__name__)), name.name
        if name:
            return name, name
        base = snake_case(type(self).__name__)
        return _unique_name(base), base

    # ---- what it is ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The layer's name, unique in the graph if it was not given."""
        return self._name

    @property
    def dtype(self) -> Any:
        """Name of the element type of its variables; None before it is known."""
        return self._dtype

    @property
    def scope_name(self) -> str:
        """Prefix of its variables' names.

        Raises:
          ValueError: the layer was not called yet.
        """
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been'
                " used yet."
            )
        return self._scope.name

    @property
    def graph(self) -> Graph | None:
        """The graph that it was first called in; None before."""
        return self._graph

    @property
    def trainable_weights(self) -> list[Any]:
        """Its trainable variables, in the order of their making."""
        return self._trainable_weights if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Its other variables."""
        if self.trainable:
            return self._non_trainable_weights
        return [*self._trainable_weights, *self._non_trainable_weights]

    @property
    def weights(self) -> list[Any]:
        """All its variables."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    @property
    def variables(self) -> list[Any]:
        """All its variables."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        """Its trainable variables."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Its variables that are not trainable."""
        return self.non_trainable_weights

    @property
    def losses(self) -> list[Any]:
        """What ``add_loss`` was given."""
        return self._losses

    @property
    def updates(self) -> list[Any]:
        """What ``add_update`` was given."""
        return self._updates

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds loss tensors, also to the collection REGULARIZATION_LOSSES."""
        self._extend(self._losses, losses, "regularization_losses")

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds update operations, also to the collection UPDATE_OPS."""
        self._extend(self._updates, updates, "update_ops")

    def _extend(self, known: list[Any], more: Any, collection: str) -> None:
        items = more if isinstance(more, list | tuple) else [more]
        known.extend(items)
        for item in items:
            if item not in scopes.get_collection_ref(collection):
                scopes.add_to_collection(collection, item)

    def count_params(self) -> int:
        """How many numbers its variables hold.

        Raises:
          ValueError: the layer was not built yet.
        """
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built."
            )
        return int(sum(np.prod(v.get_shape().as_list(), dtype=np.int64) for v in self.weights))

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return {"name": self.name, "trainable": self.trainable, "dtype": self._dtype}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The layer that ``get_config`` describes."""
        return cls(**config)

    # ---- variables -----------------------------------------------------------------------------

    def add_weight(
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
        self._set_scope(None)
        if dtype is None:
            dtype = self._dtype or dtypes.float32
        reuse = self.built or self._reuse
        entered = variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False)
        with entered as current:
            self._current_scope = current
            with scopes.name_scope(self._nodes_scope()):
                variable = variable_scopes.get_variable(
                    name,
                    shape=shape,
                    dtype=dtype,
                    initializer=initializer if initializer is not None else current.initializer,
                    regularizer=regularizer,
                    trainable=(trainable is None or trainable) and self.trainable,
                    constraint=constraint,
                    partitioner=partitioner,
                    use_resource=use_resource or current.use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
        self._track(name, variable)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Older name of ``add_weight``."""
        return self.add_weight(*args, **kwargs)

    def _track(self, name: str, variable: Any) -> None:
        # What a custom getter makes of the variable decides; whatever is no plain variable, the
        # whole of a partitioned one too, counts as not trainable, as in TensorFlow 1.15.
        plain = hasattr(variable, "trainable")
        trainable = plain and variable.trainable
        known = self._trainable_weights if trainable else self._non_trainable_weights
        if any(v is variable for v in known):
            return
        known.append(variable)
        if plain:
            self._checkpoint_dependencies.append((name, variable))

    # ---- calls ---------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Makes the variables; called once, with the shape of the first input."""
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """What the layer computes; a subclass says it."""
        return inputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The same as calling the layer."""
        return self(inputs, *args, **kwargs)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Builds the layer if that was not done yet, and calls it.

        Args:
          inputs: a tensor, or a nesting of tensors.
          *args, **kwargs: for ``call``; ``scope`` names the variable scope in the first call.
        """
        self._set_scope(kwargs.pop("scope", None))
        if self._graph is None:
            self._graph = scopes.get_default_graph()
        inputs = nest.map_structure(_as_tensor, inputs)
        with self._entered_scope() as current:
            self._current_scope = current
            with scopes.name_scope(self._nodes_scope()):
                self._build_once(inputs)
                return self.call(inputs, *args, **kwargs)

    def _entered_scope(self) -> Any:
        if not self.built:
            return variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        if self._sharing_scope is None:
            self._sharing_scope = variable_scope(
                self._scope, reuse=True, auxiliary_name_scope=False
            )
        return self._sharing_scope

    def _nodes_scope(self) -> str:
        assert self._current_scope is not None
        return self._current_scope.original_name_scope

    def _set_scope(self, scope: Any) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            opened = variable_scope(scope if scope is not None else self._base_name)
        else:
            opened = variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def _build_once(self, inputs: Any) -> None:
        flat = [x for x in nest.flatten(inputs) if hasattr(x, "get_shape")]
        if not self.built:
            if self._dtype is None and flat:
                self._dtype = flat[0].dtype.base_dtype.name
            self._check_rank(flat)
            self.build(nest.map_structure(lambda x: x.get_shape(), inputs) if flat else None)
            self.built = True
        else:
            self._check_rank(flat)

    def _check_rank(self, inputs: Sequence[Tensor]) -> None:
        for index, one in enumerate(inputs):
            rank = one.get_shape().ndims
            if self._input_rank is not None and rank is not None and rank != self._input_rank:
                raise ValueError(
                    f"Input {index} of layer {self.name} is incompatible with the layer: expected"
                    f" ndim={self._input_rank}, found ndim={rank}. Full shape received:"
                    f" {one.get_shape().as_list()}"
                )


def _as_tensor(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, np.ndarray | float | int) else value


def config_of(function: Callable[..., Any] | None) -> str | None:
    """An activation by name, as configurations hold it."""
    return None if function is None else getattr(function, "__name__", str(function))
