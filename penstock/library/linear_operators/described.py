"""What an operator is apart from what it does: hints, dtype, shapes, the scopes of its methods."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.linear_operators import arguments
from penstock.library.variables.module import Module
from penstock.ops.array import nodes

_HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


class Described(Module, abc.ABC):
    """Hints, dtype, shapes and scopes of an operator; see ``LinearOperator`` for the arguments."""

    def __init__(
        self,
        dtype: Any,
        graph_parents: Sequence[Any] | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("is_non_singular is False, but positive definite implies it")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("is_square is False, but non-singular implies it")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("is_square is False, but self-adjoint implies it")
            is_square = True
        parents = list(graph_parents or ())
        for number, parent in enumerate(parents):
            if not isinstance(parent, Tensor) and not arguments.is_reference(parent):
                raise ValueError(f"graph_parents[{number}] must be a tensor; found {parent!r}")
        # Not Module's own: the names of operators need not be Python identifiers.
        self._name = name or type(self).__name__
        self._scope_name = f"{self._name}/"
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype is not None else None
        self._graph_parents = parents
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square = is_square

    @contextlib.contextmanager
    def _name_scope(self, name: str | None) -> Iterator[str]:
        """Scope of a method: under the operator's name."""
        full = self.name if name is None else f"{self.name}/{name}"
        with name_scope(full, values=self._graph_parents) as scope:
            yield scope

    # ---- what it is ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name that scopes of the methods begin with."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of the matrices."""
        return self._dtype

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that the operator is made of."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """The hint: whether every matrix has an inverse."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """The hint: whether every matrix is its own adjoint."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """The hint: whether every matrix is positive definite."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether the matrices are square: the hint, or what the static shape says.

        Raises:
          ValueError: the hint says no, and the shape says yes.
        """
        found = self._square_by_shape()
        if self._is_square is False and found:
            raise ValueError(f"is_square is False, but the operator's shape is {self.shape}")
        return found if self._is_square is None else self._is_square

    def _square_by_shape(self) -> bool | None:
        rows, columns = self.range_dimension.value, self.domain_dimension.value
        return None if rows is None or columns is None else rows == columns

    def own_hints(self) -> dict[str, bool | None]:
        return {name: getattr(self, name) for name in _HINTS}

    # ---- shapes --------------------------------------------------------------------------------

    @abc.abstractmethod
    def _shape(self) -> shapes.TensorShape:
        """The static shape."""

    @abc.abstractmethod
    def _shape_tensor(self) -> Tensor:
        """The shape as a vector."""

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape ``[B1, ..., Bb, M, N]``."""
        return self._shape()

    @property
    def batch_shape(self) -> shapes.TensorShape:
        """The static shape of the batch, ``[B1, ..., Bb]``."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The rank of the dense tensor, ``b + 2``, or None where it is unknown."""
        return self.shape.ndims

    @property
    def domain_dimension(self) -> dimension.Dimension:
        """N: the size of vectors that the operator takes."""
        return self.shape[-1] if self.shape.ndims is not None else dimension.Dimension(None)

    @property
    def range_dimension(self) -> dimension.Dimension:
        """M: the size of vectors that it gives."""
        return self.shape[-2] if self.shape.ndims is not None else dimension.Dimension(None)

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape as an int32 vector; a constant where it is known."""
        with self._name_scope(name):
            known = self._known_shape()
            return self._shape_tensor() if known is None else known

    def _known_shape(self) -> Tensor | None:
        if not self.shape.is_fully_defined():
            return None
        return constant(np.array(self.shape.as_list(), np.int32), name="shape")

    def _any_shape(self) -> Any:
        """The shape as a vector, without a scope."""
        known = self._known_shape()
        return self._shape_tensor() if known is None else known

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch as an int32 vector."""
        with self._name_scope(name):
            return self._batch_tensor()

    def _batch_tensor(self) -> Tensor:
        if self.batch_shape.is_fully_defined():
            return constant(np.array(self.batch_shape.as_list(), np.int32), name="batch_shape")
        return nodes.head(self._shape_tensor(), -2)

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The rank of the dense tensor as an int32 scalar."""
        with self._name_scope(name):
            if self.tensor_rank is not None:
                return constant(np.int32(self.tensor_rank), name="rank")
            return nodes.size(self._shape_tensor())

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """N as an int32 scalar."""
        with self._name_scope(name):
            return self._dimension_along(-1)

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """M as an int32 scalar."""
        with self._name_scope(name):
            return self._dimension_along(-2)

    def _dimension_along(self, index: int) -> Tensor:
        size = (self.range_dimension, self.domain_dimension)[index + 2].value
        if size is not None:
            return constant(np.int32(size), name="dimension")
        return nodes.element(self._any_shape(), index)

    def _size_along(self, index: int) -> Any:
        """M (index -2) or N (-1): an int where it is known, else a scalar."""
        size = (self.range_dimension, self.domain_dimension)[index + 2].value
        return self._dimension_along(index) if size is None else size
