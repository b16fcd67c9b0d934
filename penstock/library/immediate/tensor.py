"""A graph whose tensors can be asked for their values while it is built, and those tensors.

Nodes are made as always.  A value that is asked for (``numpy()``, ``float()``, a Python ``if``) is
computed by the graph's session and kept; what is asked for next is computed from what is kept, so
that a random number stays what it was.  Nodes with effects run in the order in which they were
made, before the next value is handed out.

State: the values that are known, of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from penstock.engine.session.session import Session
from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.known_value import KnownValue
from penstock.foundation.graph.tensor import Tensor


class ImmediateTensor(KnownValue, Tensor):
    """A tensor that gives its value when asked."""

    __slots__ = ()

    def numpy(self) -> Any:
        """The value: an array, or a NumPy scalar."""
        return self._graph.values_of([self])[0]

    @property
    def _graph(self) -> ImmediateGraph:
        graph = self.op.graph
        assert isinstance(graph, ImmediateGraph)
        return graph

    @property
    def shape(self) -> shapes.TensorShape:
        """The shape, which is found out where it is not known."""
        if self.sizes is None or None in self.sizes:
            self.sizes = np.shape(self.numpy())
        return shapes.from_static(self.sizes)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value."""
        return self.numpy()

    def __len__(self) -> int:
        if not self.shape.ndims:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self.numpy())

    def __iter__(self) -> Iterator[Any]:
        if not self.shape.ndims:
            raise TypeError("iteration over a 0-d tensor")
        return iter([self[i] for i in range(len(self))])

    def __repr__(self) -> str:
        dtype = self.dtype.name
        return f"<tf.Tensor: shape={self.shape}, dtype={dtype}, numpy={self.numpy()!r}>"

    def __str__(self) -> str:
        return f"tf.Tensor({self.numpy()}, shape={self.shape}, dtype={self.dtype.name})"


class ImmediateGraph(Graph):
    """A graph of tensors that give their values, with the session that computes them."""

    tensor_class = ImmediateTensor

    def __init__(self) -> None:
        super().__init__()
        self._session = Session(graph=self)
        self._known: dict[Tensor, Any] = {}
        self._passed = 0

    def close(self) -> None:
        """Gives the session's resources back; no more values can be asked for."""
        self._session.close()

    def values_of(self, tensors: Sequence[Tensor]) -> list[Any]:
        """The values of tensors, after the effects of all nodes made so far."""
        self._run_effects()
        missing = list(dict.fromkeys(t for t in tensors if t not in self._known))
        if missing:
            self._known.update(zip(missing, self._run(missing), strict=True))
        return [self._known[t] for t in tensors]

    def _run(self, fetches: Any) -> Any:
        feedable = {t: v for t, v in self._known.items() if t not in self._unfeedable}
        return self._session.run(fetches, feedable)

    def _run_effects(self) -> None:
        while self._passed < len(self.operations):
            op = self.operations[self._passed]
            self._passed += 1
            if op.op_def.stateful or op.op_def.writes:
                fetched = [t for t in op.outputs if t.dtype not in _HANDLES]
                values = self._run([op, fetched])[1]
                self._known.update(zip(fetched, values, strict=True))


_HANDLES = (dtypes.resource, dtypes.variant)
