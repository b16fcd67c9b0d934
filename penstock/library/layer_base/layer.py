"""``tf.keras.layers.Layer``: a callable with variables of its own, made by its first call.

A call opens a name scope of the layer's name, builds the layer if that was not done yet, and adds
the nodes of ``call``.  What is assigned to an attribute is tracked: variables become weights, the
weights, losses and updates of layers inside are the layer's too, and object-based checkpoints find
both under the attribute's name.

State of a layer: its weights, losses and updates; its inputs' allowed shapes; what it tracks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TensorSpec
from penstock.library.layer_base import (
    calls,
    connections,
    constraints,
    initializers,
    names,
    regularizers,
    sessions,
    settings,
    symbolic,
    tensors,
    tracking,
    weights as making,
)
from penstock.library.layer_base.connections import Connected
from penstock.library.layer_base.input_spec import check_inputs
from penstock.library.layer_base.losses import Charged
from penstock.library.variables import tracked
from penstock.library.variables.variable import VariableAggregation, VariableSynchronization
from penstock.ops.array import cast, nodes
from penstock.ops.control import control

# What a constructor takes besides its own arguments.
KEYWORDS = {
    "input_shape", "batch_input_shape", "batch_size", "weights", "activity_regularizer", "autocast",
}  # fmt: skip


class Layer(Charged, Connected):
    """A callable with variables of its own; see the module.

    Subclasses give ``call(inputs)``, which may take ``training`` and ``mask`` too, and
    ``build(input_shape)``, which makes variables with ``add_weight``.

    Args:
      trainable: whether its variables are trainable.
      name: its name; default the class's in snake case, made unique in the graph.
      dtype: element type of its variables; default that of its first input.
      dynamic: not supported; layers are nodes of a graph.
      **kwargs: ``activity_regularizer``, a function of outputs whose result is a loss;
        ``input_shape``, ``batch_input_shape`` and ``batch_size``, for a model's first layer;
        ``weights``, arrays that the variables get when they are made.

    Raises:
      TypeError: an argument that no layer takes.

    Example:
      >>> import penstock as tf
      >>> class Scale(tf.keras.layers.Layer):
      ...     def build(self, input_shape):
      ...         self.factor = self.add_weight("factor", [], initializer="ones")
      ...     def call(self, inputs):
      ...         return inputs * self.factor
      >>> with tf.Graph().as_default():
      ...     layer = Scale()
      ...     layer(tf.constant([1.0, 2.0])).name, [v.name for v in layer.weights]
      ('scale/mul:0', ['scale/factor:0'])
    """

    supports_masking: bool
    stateful: bool
    built: bool
    _trainable_weights: list[Any]
    _non_trainable_weights: list[Any]
    # Layers, and lists and dicts that may hold some.
    _layers: list[Any]
    # (local name, object), as object-based checkpoints find them.
    _checkpoint_dependencies: list[tuple[str, Any]]
    _initial_weights: Any

    def __init__(
        self,
        trainable: bool = True,
        name: Any = None,
        dtype: Any = None,
        dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        for key in kwargs:
            if key not in KEYWORDS:
                raise TypeError("Keyword argument not understood:", key)
        state = self.__dict__
        state.update(
            _trainable=trainable, stateful=False, built=False, _input_spec=None, _dynamic=dynamic,
            supports_masking=not hasattr(type(self).compute_mask, "_is_default"),
            _dtype=None if dtype is None else dtypes.as_dtype(dtype).name,
            _trainable_weights=[], _non_trainable_weights=[], _losses=[], _callable_losses=[],
            _updates=[], _metrics=[], _layers=[], _checkpoint_dependencies=[], _inbound_nodes=[],
            _outbound_nodes=[], _activity_regularizer=kwargs.pop("activity_regularizer", None),
            _initial_weights=kwargs.get("weights"),
        )  # fmt: skip
        self._init_set_name(name)
        self._init_input_shape(kwargs)

    def _init_set_name(self, name: Any) -> None:
        made = names.snake_case(type(self).__name__)
        self.__dict__["_name"] = name if name else names.unique_name(made, zero_based=True)

    def _init_input_shape(self, kwargs: dict[str, Any]) -> None:
        if "batch_input_shape" in kwargs:
            self.__dict__["_batch_input_shape"] = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            shape = (kwargs.get("batch_size"), *kwargs["input_shape"])
            self.__dict__["_batch_input_shape"] = shape

    def __setattr__(self, name: str, value: Any) -> None:
        tracking.track_attribute(self, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        tracking.forget_attribute(self, name)
        super().__delattr__(name)

    # ---- what it is ----------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """Name of the element type of its variables; None before it is known."""
        return self.__dict__["_dtype"]

    @property
    def dynamic(self) -> bool:
        """Whether the layer was said to run outside graphs."""
        return bool(self.__dict__["_dynamic"])

    @property
    def trainable(self) -> bool:
        """Whether its variables are trainable; setting it holds for the layers inside, too."""
        return bool(self.__dict__["_trainable"])

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.__dict__["_trainable"] = value
        for layer in self._inner_layers():
            layer.trainable = value

    @property
    def activity_regularizer(self) -> Any:
        """Function of the outputs whose result is a loss."""
        return self.__dict__["_activity_regularizer"]

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Any) -> None:
        self.__dict__["_activity_regularizer"] = regularizer

    @property
    def input_spec(self) -> Any:
        """What is allowed as input: an ``InputSpec``, a nesting of such, or None."""
        return self.__dict__["_input_spec"]

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        self.__dict__["_input_spec"] = value

    def _inner_layers(self) -> list[Any]:
        return tracking.layers_in(self._layers)

    # ---- its variables -------------------------------------------------------------------------

    @property
    def trainable_weights(self) -> list[Any]:
        """Its trainable variables, in the order of their making."""
        if not self.trainable:
            return []
        return [*self._trainable_weights, *self._of_inner("trainable_weights")]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Its other variables."""
        if self.trainable:
            return [*self._non_trainable_weights, *self._of_inner("non_trainable_weights")]
        own = [*self._trainable_weights, *self._non_trainable_weights]
        return [*own, *self._of_inner("weights")]

    @property
    def weights(self) -> list[Any]:
        """All its variables, the trainable ones first."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    @property
    def variables(self) -> Any:
        """All its variables, the trainable ones first."""
        return self.weights

    @property
    def trainable_variables(self) -> Any:
        """Its trainable variables."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> Any:
        """Its variables that are not trainable."""
        return self.non_trainable_weights

    def add_weight(
        self,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        partitioner: Any = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Any:
        """A variable of the layer, for ``build``.

        Args:
          name: its name in the layer.
          shape: its shape; default a scalar.
          dtype: its element type; default the layer's, else float32.
          initializer, regularizer, constraint: functions, names or configurations.
          trainable: default True, unless ``synchronization`` is ON_READ.
          partitioner, use_resource, synchronization, aggregation: as of ``tf.get_variable``.
          **kwargs: ``getter``, which makes the variable; ``collections``.

        Returns:
          The variable.

        Raises:
          TypeError: an unknown argument.
          ValueError: no initializer, and none by default for the type.
        """
        for key in kwargs:
            if key not in ("getter", "collections", "experimental_autocast"):
                raise TypeError("Unknown keyword argument:", key)
        kind = dtypes.as_dtype(dtype or self.dtype or settings.floatx())
        if self.dtype is None:  # as of the first weight, where no input has said it
            self.__dict__["_dtype"] = kind.base_dtype.name
        trainable = making.resolved_trainable(trainable, synchronization)
        initializer = initializers.get(initializer)
        if initializer is None:
            initializer = making.default_initializer(name, kind, self.name)
        getter = kwargs.get("getter") or making.make_variable
        variable = getter(
            name=name, shape=() if shape is None else shape, initializer=initializer, dtype=kind,
            constraint=constraints.get(constraint), trainable=trainable, partitioner=partitioner,
            use_resource=use_resource, collections=kwargs.get("collections"),
            synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip
        if regularizer is not None:
            scope = variable.name.partition(":")[0]
            self._regularize(scope, variable, regularizers.get(regularizer))
        tracking.track_weight(self, name, variable, trainable)
        return variable

    def _regularize(self, scope: str, variable: Any, regularizer: Callable[[Any], Any]) -> None:
        def loss() -> Any:
            with scopes.name_scope(f"{scope}/Regularizer"):
                return regularizer(variable)

        self.add_loss(loss)

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Older name of ``add_weight``."""
        return self.add_weight(*args, **kwargs)

    def get_weights(self) -> list[Any]:
        """The values of ``weights`` in the session, as arrays; lacking ones are initialized."""
        return sessions.values_of(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Gives the variables new values in the session.

        Args:
          weights: arrays, in the order of ``weights``.

        Raises:
          ValueError: their number or shapes are not those of the variables.
        """
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of'
                f" length {len(weights)}, but the layer was expecting {len(own)} weights. Provided"
                f" weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(own, weights, strict=True):
            if not variable.shape.is_compatible_with(np.shape(value)):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight"
                    f" shape {np.shape(value)}; it is {variable.name!r}"
                )
        sessions.set_values(list(zip(own, weights, strict=True)))

    def count_params(self) -> int:
        """How many numbers its variables hold.

        Raises:
          ValueError: the layer was not built yet.
        """
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You"
                f" can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return int(sum(np.prod(v.shape.as_list(), dtype=np.int64) for v in self.weights))

    # ---- calls ---------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Makes the variables; called once, with the shape of the first input."""
        self.__dict__["built"] = True

    if TYPE_CHECKING:  # a subclass takes whatever it needs
        call: Callable[..., Any]
    else:

        def call(self, inputs: Any, **kwargs: Any) -> Any:
            """What the layer computes; a subclass says it."""
            return inputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The same as calling the layer."""
        return self(inputs, *args, **kwargs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the output; a layer that supports masks hands on that of its input.

        Raises:
          TypeError: there is a mask, and the layer supports none.
        """
        if not self.supports_masking:
            if any(one is not None for one in nest.flatten(mask)):
                raise TypeError(
                    f"Layer {self.name} does not support masking, but was passed an input_mask:"
                    f" {mask}"
                )
            return None
        return mask

    compute_mask._is_default = True  # type: ignore[attr-defined]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for a shape of the input; a subclass says it."""
        raise NotImplementedError

    def compute_output_signature(self, input_signature: Any) -> Any:
        """Shape and dtype of the output for those of the input.

        Args:
          input_signature: a ``tf.TensorSpec``, or a nesting of such.

        Returns:
          Likewise.

        Raises:
          TypeError: something else than a ``tf.TensorSpec``.
        """
        specs = nest.flatten(input_signature)
        for one in specs:
            if not isinstance(one, TensorSpec):
                raise TypeError(
                    "Only TensorSpec signature types are supported, but saw signature signature"
                    f" entry: {one}."
                )
        shape = self.compute_output_shape(
            nest.map_structure(lambda one: one.shape, input_signature)
        )
        dtype = self.dtype or specs[0].dtype
        return nest.map_structure(lambda one: TensorSpec(dtype=dtype, shape=one), shape)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Builds the layer if that was not done yet, and calls it.

        Args:
          inputs: a tensor, or a nesting of tensors; arrays and numbers are converted.
          *args, **kwargs: for ``call``.

        Returns:
          What ``call`` returns.

        Raises:
          ValueError: the inputs are not what the layer allows.
        """
        inputs = nest.map_structure(_as_tensor, inputs)
        with symbolic.scope_of(inputs):
            return self._call_on(inputs, args, kwargs)

    def _call_on(self, inputs: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        self._forget_losses()
        # What the caller gives besides: the layer's own mask and training come later.
        given = dict(zip(list(self.call_arguments)[1:], args, strict=False)) | kwargs
        if calls.current_call() is None and symbolic.has_inputs():
            connections.connect_operations([inputs, given])
        tracking.give_resources(self._layers)
        masks = self._give_mask(inputs, args, kwargs)
        training = self._give_training(args, kwargs)
        with calls.call_of(self, _outermost_inputs(inputs), training):
            check_inputs(self.input_spec, inputs, self.name)
            with scopes.name_scope(self._name_scope()):
                self._maybe_build(inputs)
                outputs = self.call(inputs, *args, **kwargs)
                if outputs is None:
                    raise ValueError(
                        "A layer's `call` method should return a Tensor or a list of Tensors, not"
                        f" None (layer: {self.name})."
                    )
                outputs = self._connected(inputs, outputs, given)
                self._regularize_activity(inputs, outputs)
                self._set_masks(inputs, outputs, masks)
        return outputs

    def _name_scope(self) -> str:
        return self.name

    @property
    def call_arguments(self) -> dict[str, Any]:
        found: dict[str, Any] | None = self.__dict__.get("_call_parameters")
        if found is None:
            found = self.__dict__["_call_parameters"] = _parameters(self.call)
        return found

    def _expects(self, name: str) -> bool:
        return name in self.call_arguments or "**" in self.call_arguments

    def _passed(self, name: str, args: Any, kwargs: dict[str, Any]) -> bool:
        return name in kwargs or name in list(self.call_arguments)[1 : 1 + len(args)]

    def _give_mask(self, inputs: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """The masks of the inputs, given to ``call`` where it takes and lacks one."""
        if "mask" in self.call_arguments and self._passed("mask", args, kwargs):
            return kwargs["mask"] if "mask" in kwargs else self._argument("mask", args)
        if not self.supports_masking and "mask" not in self.call_arguments:
            return None
        flat = [tensors.mask_of(one) for one in nest.flatten(inputs)]
        if all(mask is None for mask in flat):
            return None
        masks = nest.pack_sequence_as(inputs, flat)
        if "mask" in self.call_arguments:
            kwargs["mask"] = masks
        return masks

    def _argument(self, name: str, args: Any) -> Any:
        return args[list(self.call_arguments).index(name) - 1]

    def _give_training(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """The ``training`` that holds in this call, given to ``call`` where it takes and lacks one.

        A call inside another layer's takes over what that one was given.
        """
        if self._passed("training", args, kwargs):
            if not self._expects("training"):
                return kwargs.pop("training")
            return kwargs["training"] if "training" in kwargs else self._argument("training", args)
        outer = calls.current_call()
        if outer is None or outer.training is None:
            return None
        value = outer.training
        if self._expects("training"):
            symbolic = isinstance(value, Tensor)
            kwargs["training"] = cast.cast(value, dtypes.bool) if symbolic else bool(value)
        return value

    def _maybe_build(self, inputs: Any) -> None:
        if self.built:
            return
        flat = nest.flatten(inputs)
        if self.dtype is None and flat and hasattr(flat[0], "dtype"):
            self.__dict__["_dtype"] = dtypes.as_dtype(flat[0].dtype).base_dtype.name
        shaped = all(hasattr(one, "shape") for one in flat)
        self.build(nest.map_structure(lambda one: one.shape, inputs) if shaped else None)
        self.__dict__["built"] = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self.__dict__["_initial_weights"] = None
        tracked.attached()

    def _connected(self, inputs: Any, outputs: Any, given: dict[str, Any]) -> Any:
        """The outputs, noted with the call if the inputs came from layers."""
        if not connections.all_connected(inputs):
            return outputs
        known = {id(one) for one in nest.flatten(inputs)}
        # What is handed through belongs to the layer before.
        outputs = nest.map_structure(
            lambda one: control.identity(one) if id(one) in known else one, outputs
        )
        inputs, given = self._call_to_note(inputs, given)
        connections.connect(self, inputs, outputs, given)
        return outputs

    def _call_to_note(self, inputs: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """What is noted of a call: its inputs, and what it was given besides."""
        return inputs, given

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        if not self.activity_regularizer:
            return
        with scopes.name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self.activity_regularizer(output)
                size = cast.cast(nodes.element(nodes.shape(output), 0), loss.dtype)
                self.add_loss(loss / size, inputs=inputs)

    def _set_masks(self, inputs: Any, outputs: Any, masks: Any) -> None:
        flat = nest.flatten(outputs)
        custom = not hasattr(type(self).compute_mask, "_is_default")
        if not custom and not self.supports_masking:
            return
        if not custom and masks is None:
            return
        made = self.compute_mask(inputs, masks)
        found = [None] * len(flat) if made is None else nest.flatten(made)
        for output, mask in zip(flat, found, strict=False):
            tensors.set_mask(output, mask)

    # ---- its description -----------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        config = {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}
        if "_batch_input_shape" in self.__dict__:
            config["batch_input_shape"] = self.__dict__["_batch_input_shape"]
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The layer that ``get_config`` describes."""
        return cls(**config)


def _outermost_inputs(inputs: Any) -> Any:
    outer = calls.current_call()
    return inputs if outer is None else outer.inputs


def _parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of a ``call``, by name; ``**`` where it takes any."""
    found = inspect.signature(function).parameters.values()
    return {"**" if p.kind is p.VAR_KEYWORD else p.name: p for p in found}


def _as_tensor(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, np.ndarray | float | int) else value
