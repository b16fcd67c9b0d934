"""Methods of variables that look at their values, or change parts of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make_tensor
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import initial_value
from penstock.ops.state import state_scatter


class ValueMethods:
    """What sessions and nodes do with a variable's value; a base class of ``Variable``."""

    if TYPE_CHECKING:

        @property
        def graph(self) -> Graph:
            """``Variable``'s."""

        @property
        def initializer(self) -> Any:
            """``Variable``'s."""

    def initialized_value(self) -> Tensor:
        """The value if the variable has one, else its initial value."""
        return initial_value.initialized_value(self)

    def eval(self, session: Any = None) -> Any:
        """The value in ``session`` (default: the default session)."""
        return scopes.session_for(session, self.graph, "Variable.eval").run(self)

    def load(self, value: Any, session: Any = None) -> None:
        """Sets the value in ``session`` from a Python value or array, adding no nodes."""
        runner = scopes.session_for(session, self.graph, "Variable.load")
        runner.run(self.initializer, {self.initializer.inputs[1]: value})

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at ``indices``."""
        return make_tensor("GatherV2", self, indices, 0, name=name)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at the index tuples ``indices``."""
        return make_tensor("GatherNd", self, indices, name=name)

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """``tf.batch_scatter_update`` of this variable by IndexedSlices."""
        return state_scatter.batch_scatter_update(
            self, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name
        )

    def _scatter(self, op_type: str, sparse_delta: Any, use_locking: bool, name: Any) -> Any:
        raise NotImplementedError

    def _scatter_nd(self, op_type: str, indices: Any, updates: Any, name: Any) -> Any:
        raise NotImplementedError

    def count_up_to(self, limit: int) -> Tensor:
        """Increments a scalar integer variable until ``limit``; see ``tf.count_up_to``."""
        raise NotImplementedError


# The scatter methods, one row each; the styles say how they make the node.
_BY_SLICES = {
    "scatter_update": ("ScatterUpdate", "Sets the rows at ``sparse_delta.indices``."),
    "scatter_add": ("ScatterAdd", "Adds to the rows at ``sparse_delta.indices``."),
    "scatter_sub": ("ScatterSub", "Subtracts from the rows at ``sparse_delta.indices``."),
    "scatter_mul": ("ScatterMul", "Multiplies the rows at ``sparse_delta.indices``."),
    "scatter_div": ("ScatterDiv", "Divides the rows at ``sparse_delta.indices``."),
    "scatter_min": ("ScatterMin", "Takes the minimum into the rows at ``sparse_delta.indices``."),
    "scatter_max": ("ScatterMax", "Takes the maximum into the rows at ``sparse_delta.indices``."),
}


_BY_TUPLES = {
    "scatter_nd_update": ("ScatterNdUpdate", "Sets the elements at the index tuples."),
    "scatter_nd_add": ("ScatterNdAdd", "Adds to the elements at the index tuples."),
    "scatter_nd_sub": ("ScatterNdSub", "Subtracts from the elements at the index tuples."),
}


def _add_by_slices(method: str, op_type: str, doc: str) -> None:
    def scatter(
        self: Any, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return self._scatter(op_type, sparse_delta, use_locking, name)

    scatter.__name__ = method
    scatter.__doc__ = f"{doc}\n\n``sparse_delta`` is IndexedSlices; repeated rows apply in turn."
    setattr(ValueMethods, method, scatter)


def _add_by_tuples(method: str, op_type: str, doc: str) -> None:
    def scatter(self: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
        return self._scatter_nd(op_type, indices, updates, name)

    scatter.__name__ = method
    scatter.__doc__ = f"{doc}\n\nShapes are those of ``tf.{method}``."
    setattr(ValueMethods, method, scatter)


for _method, (_op_type, _doc) in _BY_SLICES.items():
    _add_by_slices(_method, _op_type, _doc)


for _method, (_op_type, _doc) in _BY_TUPLES.items():
    _add_by_tuples(_method, _op_type, _doc)
