"""A symbolic tensor: one output of one operation.

The operators (``+``, slicing, ...) are put on the class by ``penstock.ops.math.operators``, because
they make nodes of op types that live there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import drawing
from penstock.foundation.graph.defaults import session_for
from penstock.foundation.graph.reference import Reference
from penstock.foundation.graph.tensor_protocols import Protocols
from penstock.foundation.opdef.static import UNSET

if TYPE_CHECKING:
    from penstock.foundation.graph.graph import Graph
    from penstock.foundation.graph.operation import Operation

_new = object.__new__


class Tensor(Protocols):
    """The value that an operation will produce; nothing is computed until a session runs it.

    Besides TensorFlow's there are two fields to read, which ``set_shape`` and the graph write:
    ``sizes`` is the static shape as a tuple with None for a size that is not known, or None for an
    unknown rank; ``uses`` has an operation for each input that takes this tensor.

    Example:
      >>> import penstock as tf
      >>> x = tf.placeholder(tf.float32, [None, 3], name="x")
      >>> y = 2 * x + 1
      >>> y.shape.as_list(), y.dtype, y.op.type
      ([None, 3], tf.float32, 'AddV2')
      >>> with tf.Session():
      ...     y[0, 1:].eval({x: [[1, 2, 3]]}).tolist()
      [5.0, 7.0]
    """

    # Programs and packages hang values of their own on tensors (``aliases``, ``_keras_history``).
    __slots__ = (
        "op", "value_index", "dtype", "sizes", "static_value", "uses", "__dict__", "__weakref__",
    )  # fmt: skip
    __array_priority__ = 100
    # Whether it is the value of an operation that has run, and not an output of a node.
    has_value = False
    OVERLOADABLE_OPERATORS: set[str] = set()

    def __init__(self, op: Operation, value_index: int, dtype: Any) -> None:
        self.op = op
        self.value_index = value_index
        self.dtype: dtypes.DType = dtypes.as_dtype(dtype)
        self.sizes: tuple[int | None, ...] | None = None
        self.static_value: Any = UNSET
        self.uses: list[Operation] = []

    def copied_to(self, op: Operation) -> Tensor:
        """The same output of a copy of the node that makes it."""
        new = _new(Tensor)
        new.op, new.value_index, new.dtype = op, self.value_index, self.dtype
        new.sizes, new.static_value, new.uses = self.sizes, UNSET, []
        return new

    @property
    def graph(self) -> Graph:
        """The graph that holds this tensor."""
        return self.op.graph

    @property
    def name(self) -> str:
        """``"<operation>:<output index>"``, the name to feed or fetch it by."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.name

    @property
    def op_type(self) -> str:
        """The type of the operation that makes it; empty of a tensor that is in no graph."""
        return self.op.type

    @property
    def device(self) -> str:
        """The device string of the operation that makes it; empty when unconstrained."""
        return self.op.device

    @property
    def shape(self) -> shapes.TensorShape:
        """What is known of the shape before running."""
        return shapes.TensorShape(self.sizes)

    def get_shape(self) -> shapes.TensorShape:
        """Alias of ``shape``."""
        return shapes.TensorShape(self.sizes)

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.sizes is None else list(self.sizes)

    @property
    def rank(self) -> int | None:
        """How many dims it has; None where that is not known."""
        return None if self.sizes is None else len(self.sizes)

    def set_shape(self, shape: Any) -> None:
        """Adds knowledge about the shape.

        Args:
          shape: anything that makes a TensorShape.

        Raises:
          ValueError: when it contradicts what is known already.
        """
        given = shapes.as_shape(shape).sizes
        try:
            merged = shapes.merge_static(self.sizes, given)
        except ValueError as error:
            raise ValueError(f"set_shape on {self.name}: {error}") from None
        if merged != self.sizes:
            self.sizes = merged
            self.static_value = UNSET
            self.op.graph.note_mutation()

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input, each once."""
        return list(dict.fromkeys(self.uses))

    def experimental_ref(self) -> Reference:
        """A hashable stand-in that compares by identity; ``deref()`` gives the tensor back."""
        return Reference(self)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Runs this tensor in ``session`` (default: the default session) and returns its value."""
        return session_for(session, self.graph, "Tensor.eval").run(self, feed_dict)

    def _as_tf_output(self) -> Tensor:
        """What functions of ``pywrap_tensorflow`` are given for it: itself."""
        return self

    def _as_node_def_input(self) -> str:
        return self.name if self.value_index else self.op.name

    def _repr_html_(self) -> str:
        return drawing.tensor_html(self)

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = f", shape={self.shape}" if self.sizes is not None else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'
