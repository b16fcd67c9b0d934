"""``tf.Variable``: the class that both styles of variable are instances of.

``tf.Variable(...)`` asks the creators (``creation``) and gives a ``RefVariable`` or a
``ResourceVariable``; ``isinstance(v, tf.Variable)`` holds for both.  What the two styles do alike
is here: operators, evaluation, properties, protobuf form.  A variable's state at build time is a
few tensors and ops of the graph; its value lives in sessions.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto import variable_pb2

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.convert import register_tensor_conversion_function
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.proto_functions import register_proto_function
from penstock.foundation.graph.reference import Reference
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import slices
from penstock.library.variables.slice_info import SaveSliceInfo, without_scope
from penstock.library.variables.value_methods import ValueMethods


class VariableSynchronization(enum.Enum):
    """When the replicas of a distributed variable are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the values that replicas assign are combined."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


# Inside the class the name is an attribute, which annotations cannot use.
_SliceInfo = SaveSliceInfo


_create: list[Callable[..., Any]] = []


def give_creation(create: Callable[..., Any]) -> None:
    """Gives what ``tf.Variable(...)`` calls: it makes an object of a subclass."""
    _create[:] = [create]


class VariableMeta(type):
    """Calling ``tf.Variable`` itself goes through the variable creators."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        return _create[0](*args, **kwargs)


_OPERATORS = (
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__div__", "__rdiv__",
    "__truediv__", "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__",
    "__lt__", "__le__", "__gt__", "__ge__", "__and__", "__rand__", "__or__", "__ror__",
    "__xor__", "__rxor__", "__pow__", "__rpow__", "__matmul__", "__rmatmul__", "__invert__",
    "__neg__", "__abs__",
)  # fmt: skip


class Variable(ValueMethods, metaclass=VariableMeta):
    """A tensor that keeps its value between runs.

    Args:
      initial_value: what converts to a tensor, or a function without arguments that gives it (then
        ``dtype`` must be given or follow from it).
      trainable: whether it is put into ``GraphKeys.TRAINABLE_VARIABLES``; default True.
      collections: collections to put it into; default ``[GraphKeys.GLOBAL_VARIABLES]``.
      validate_shape: whether the shape of the initial value must be known and stays; with False
        later assignments may change the shape.
      caching_device: device on which reads are cached.
      name: name; made unique in the name scope.
      variable_def: a ``VariableDef`` of a graph that holds the variable's nodes already.
      dtype: element type; default that of the initial value.
      expected_shape: ignored, as in TF.
      import_scope: prefix of the names in ``variable_def``.
      constraint: function applied to the variable by optimizers after an update.
      use_resource: whether to make a resource variable; None follows the variable scope.
      synchronization, aggregation: for distributed training.
      shape: shape of a resource variable whose initial value's is not known.

    Returns:
      A ``RefVariable`` or ``ResourceVariable``, both of which are ``tf.Variable``.

    Raises:
      ValueError: the initial value is missing, or its shape is not known and ``validate_shape``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     w = tf.Variable([1.0, 2.0], name="w")
      ...     sess.run(tf.global_variables_initializer())
      ...     w.name, sess.run(w).tolist()
      ('w:0', [1.0, 2.0])
    """

    _is_dense_tensor_like = True
    __array_priority__ = 100

    # Set by the two styles.
    _trainable: bool
    _constraint: Any
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _initial_value: Any
    _initializer_op: Any
    _save_slice_info: _SliceInfo | None = None
    SaveSliceInfo = _SliceInfo
    _in_graph_mode = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("tf.Variable(...) makes variables; this class makes none")

    # ---- what the styles must have -----------------------------------------------------------

    def _ref(self) -> Tensor:
        """The reference tensor or handle."""
        raise NotImplementedError

    def value(self) -> Tensor:
        """The last snapshot of the value, as a tensor."""
        raise NotImplementedError

    def read_value(self) -> Tensor:
        """A new read, which control dependencies can order."""
        raise NotImplementedError

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Sets the value; returns the updated variable, or the op when not ``read_value``."""
        raise NotImplementedError

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Adds ``delta``; returns as ``assign``."""
        raise NotImplementedError

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Subtracts ``delta``; returns as ``assign``."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The variable's name, ``"W:0"``."""
        raise NotImplementedError

    @property
    def dtype(self) -> dtypes.DType:
        """Element type (a ref type for reference variables)."""
        raise NotImplementedError

    @property
    def shape(self) -> shapes.TensorShape:
        """Static shape."""
        raise NotImplementedError

    @property
    def op(self) -> Any:
        """The node that holds the variable."""
        return self._ref().op

    # ---- shared --------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The graph the variable is in."""
        return self._ref().graph

    @property
    def device(self) -> str:
        """The device asked for."""
        return self._ref().device

    def get_shape(self) -> shapes.TensorShape:
        """Alias of ``shape``."""
        return self.shape

    @property
    def trainable(self) -> bool:
        """Whether optimizers update it by default."""
        return self._trainable

    @property
    def constraint(self) -> Any:
        """The function that optimizers apply after an update, or None."""
        return self._constraint

    @property
    def synchronization(self) -> VariableSynchronization:
        """When replicas are brought together."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """How values of replicas are combined."""
        return self._aggregation

    @property
    def initializer(self) -> Any:
        """The op that sets the initial value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Any:
        """The tensor of the initial value."""
        return self._initial_value

    @property
    def _shared_name(self) -> str:
        return self.name[: self.name.index(":")]

    def experimental_ref(self) -> Reference:
        """A hashable stand-in that compares by identity; ``deref()`` gives the variable back."""
        return Reference(self)

    def set_shape(self, shape: Any) -> None:
        """Adds knowledge about the shape (of a variable made with validate_shape=False)."""
        raise NotImplementedError

    def _get_save_slice_info(self) -> _SliceInfo | None:
        return self._save_slice_info

    def _set_save_slice_info(self, save_slice_info: _SliceInfo | None) -> None:
        self._save_slice_info = save_slice_info

    def _AsTensor(self) -> Tensor:
        return self.value()

    def _dense_var_to_tensor(
        self, dtype: Any = None, name: str | None = None, as_ref: bool = False
    ) -> Any:
        if dtype is not None and dtypes.as_dtype(dtype).base_dtype is not self.dtype.base_dtype:
            raise ValueError(
                f"variable {self.name!r} is of type {self.dtype.base_dtype.name}; a tensor of type"
                f" {dtypes.as_dtype(dtype).name} was asked for"
            )
        return self._ref() if as_ref else self.value()

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Any:
        """The variable that a ``VariableDef`` describes, in the default graph."""
        return Variable(variable_def=variable_def, import_scope=import_scope)

    def _common_proto(self, snapshot: str, export_scope: str | None) -> Any:
        """Fields of the ``VariableDef`` that both styles fill alike."""
        message = variable_pb2.VariableDef(
            variable_name=without_scope(self._ref().name, export_scope),
            initializer_name=without_scope(self.initializer.name, export_scope),
            snapshot_name=without_scope(snapshot, export_scope),
            trainable=self.trainable,
            synchronization=self.synchronization.value,
            aggregation=self.aggregation.value,
        )
        if self._initial_value is not None:
            message.initial_value_name = without_scope(self._initial_value.name, export_scope)
        info = self._save_slice_info
        if info is not None:
            slice_message = info.to_proto(export_scope)
            if slice_message is not None:
                message.save_slice_info_def.MergeFrom(slice_message)
        return message

    def to_proto(self, export_scope: str | None = None) -> Any:
        """This as a ``VariableDef``; None when it is outside ``export_scope``."""
        raise NotImplementedError

    def __getitem__(self, item: Any) -> Any:
        return slices.sliced(self, item)

    def __iter__(self) -> Any:
        raise TypeError(f"variable {self.name} cannot be iterated over; use tf.unstack or indexing")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def _forward(name: str) -> None:
    """Gives Variable an operator: Tensor's, on the variable's value."""

    def operator(self: Variable, *args: Any) -> Any:
        return getattr(Tensor, name)(self._AsTensor(), *args)

    operator.__name__ = name
    setattr(Variable, name, operator)


for _name in _OPERATORS:
    _forward(_name)


def _convert(
    value: Variable, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    return value._dense_var_to_tensor(dtype, name, as_ref)


register_tensor_conversion_function(Variable, _convert, 90)


def _to_proto(variable: Any, export_scope: str | None = None) -> Any:
    return variable.to_proto(export_scope)


for _collection in (
    GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES, GraphKeys.MODEL_VARIABLES, GraphKeys.GLOBAL_STEP,
    GraphKeys.METRIC_VARIABLES,
):  # fmt: skip
    register_proto_function(_collection, variable_pb2.VariableDef, _to_proto, Variable.from_proto)


def resolved_trainable(
    trainable: bool | None, synchronization: VariableSynchronization, name: str | None
) -> bool:
    """What ``trainable`` means when it was not given, checked against the synchronization."""
    if synchronization is VariableSynchronization.ON_READ:
        if trainable:
            raise ValueError(
                f"variable {name!r}: synchronization ON_READ is for variables that are not"
                " trainable; trainable=True was given"
            )
        return False
    return True if trainable is None else trainable


def resolved_collections(collections: Any, trainable: bool) -> list[Any]:
    """The collections a new variable goes into."""
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, list | tuple | set):
        raise ValueError(
            f"collections must be a list, tuple or set; found {type(collections).__name__}"
        )
    result = list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in result:
        result.append(GraphKeys.TRAINABLE_VARIABLES)
    return result
