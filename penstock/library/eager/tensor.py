"""A tensor that has its value, and the light operation that a tape keeps of a call.

State of a tensor: its value (a torch tensor, a NumPy array of strings, or the resource that a
handle stands for) and its dtype.  What a node's tensor has besides is worked out when it is asked
for, so that making one costs two assignments.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from penstock.engine.runtime import values
from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.known_value import KnownValue
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.opdef import OpDef

_new = object.__new__
_ids = itertools.count(1)
_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
_HANDLES = _RESOURCE, _VARIANT = dtypes.resource, dtypes.variant


class _Looks(threading.local):
    """How often what builds nodes has looked at a tensor's value, in this thread."""

    count = 0


looks = _Looks()


class EagerTensor(KnownValue, Tensor):
    """The value of an operation that has run; ``numpy()`` gives it."""

    __slots__ = ("value", "handle_op", "number", "position")
    has_value = True
    value: Any
    handle_op: Operation
    number: int
    position: int

    @property
    def _id(self) -> int:
        """A number of its own, given when it is first asked for."""
        number: int
        try:
            number = self.number
        except AttributeError:
            number = self.number = next(_ids)
        return number

    def numpy(self) -> Any:
        """The value: an array of its own memory, or a NumPy scalar."""
        value = self.value
        try:
            array = value.numpy()
        except (AttributeError, RuntimeError, TypeError):  # strings, and what to_array knows
            array = values.to_array(value)
        return array.copy() if array.ndim else array[()]

    # ---- what a node's tensor has ---------------------------------------------------------------

    @property
    def op(self) -> Operation:  # type: ignore[override]
        """Of a handle the operation that made it; other tensors have none."""
        try:
            made: Operation = self.handle_op
        except AttributeError:
            raise AttributeError(
                "Tensor.op is meaningless when eager execution is enabled."
            ) from None
        return made

    @property
    def value_index(self) -> int:  # type: ignore[override]
        """Its place among the outputs of the operation."""
        try:
            index: int = self.position
        except AttributeError:
            raise AttributeError(
                "Tensor.value_index is meaningless when eager execution is enabled."
            ) from None
        return index

    @property
    def graph(self) -> Graph:
        """Of a handle the eager context; other tensors are in no graph."""
        try:
            made: Operation = self.handle_op
        except AttributeError:
            raise AttributeError(
                "Tensor.graph is meaningless when eager execution is enabled."
            ) from None
        return made.graph

    @property
    def name(self) -> str:
        """Of a handle its name; other tensors have none."""
        try:
            made: Operation = self.handle_op
        except AttributeError:
            raise AttributeError(
                "Tensor.name is meaningless when eager execution is enabled."
            ) from None
        return f"{made.name}:0"

    @property
    def label(self) -> str:
        """What messages call it, which has no name."""
        return f"{self.dtype.name} {self.shape}"

    @property
    def op_type(self) -> str:
        """Empty: it is in no graph."""
        return ""

    @property
    def uses(self) -> list[Operation]:  # type: ignore[override]
        """None: nothing keeps what took it."""
        return []

    @property
    def sizes(self) -> tuple[int | None, ...] | None:  # type: ignore[override]
        """Its dims."""
        dtype = self.dtype
        return () if dtype is _RESOURCE or dtype is _VARIANT else tuple(self.value.shape)

    @property
    def static_value(self) -> Any:
        """The value, which shape rules see."""
        looks.count += 1
        return None if self.dtype in _HANDLES else values.to_array(self.value)

    @property
    def device(self) -> str:
        """Where its memory is."""
        return _CPU

    @property
    def shape(self) -> shapes.TensorShape:
        """Its shape, which is known."""
        return shapes.from_static(self.sizes)

    def get_shape(self) -> shapes.TensorShape:
        """Alias of ``shape``."""
        return self.shape

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self.sizes

    @property
    def ndim(self) -> int:
        """How many dims it has."""
        return len(self.sizes or ())

    def set_shape(self, shape: Any) -> None:
        """Checks that a shape is its own.

        Raises:
          ValueError: it is not.
        """
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}"
            )

    def consumers(self) -> list[Operation]:
        """Raises NotImplementedError: nothing keeps what took it."""
        raise NotImplementedError(
            "Tensor.consumers is meaningless when eager execution is enabled."
        )

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Raises NotImplementedError: there is no session; ``numpy()`` gives the value."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're"
            " looking for?"
        )

    def cpu(self) -> EagerTensor:
        """This tensor in the memory of the host."""
        return self

    # ---- as Python's values ---------------------------------------------------------------------

    def __len__(self) -> int:
        dims = self.sizes
        if not dims:
            raise TypeError("Scalar tensor has no `len()`")
        return int(dims[0] or 0)

    def __iter__(self) -> Iterator[Any]:
        if not self.sizes:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return iter([self[i] for i in range(len(self))])

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec) if spec else str(self)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return eager_tensor(values.from_array(np.asarray(self.numpy()), copy=True), self.dtype)

    def __reduce__(self) -> Any:
        return _from_numpy, (np.asarray(self.numpy()), self.dtype.as_datatype_enum)

    def value_text(self, is_repr: bool) -> str:
        """Its value in a text."""
        if self.dtype in _HANDLES:
            return "<unprintable>"
        value = self.numpy()
        return repr(value) if is_repr and isinstance(value, np.ndarray) else str(value)

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor: id={self._id}, shape={self.shape}, dtype={self.dtype.name},"
            f" numpy={self.value_text(True)}>"
        )

    def __str__(self) -> str:
        return f"tf.Tensor({self.value_text(False)}, shape={self.shape}, dtype={self.dtype.name})"


def eager_tensor(value: Any, dtype: dtypes.DType) -> EagerTensor:
    """A tensor of a run-time value, which nothing may change from now on."""
    made = _new(EagerTensor)
    made.value, made.dtype = value, dtype
    return made


def _from_numpy(array: Any, number: int) -> EagerTensor:
    return eager_tensor(values.from_array(array, copy=True), dtypes.DType(number))


class EagerOperation(Operation):
    """A call that ran, as gradient functions see it."""

    __slots__ = ()

    def __init__(
        self,
        graph: Graph,
        op_def: OpDef,
        name: str,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        attrs: dict[str, Any],
    ) -> None:
        self.graph, self.op_def, self.type, self.name = graph, op_def, op_def.name, name
        self.inputs, self.outputs, self.attrs = tuple(inputs), list(outputs), attrs
        self.control_inputs, self.origin, self.refusal = (), None, None
        self._device, self.id = "", -1
        self._original_op = self._control_flow_context = None
