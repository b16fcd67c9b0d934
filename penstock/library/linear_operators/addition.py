"""Sums of operators that stay as simple as they can: a diagonal and an identity are a diagonal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from penstock.foundation.graph.scopes import name_scope
from penstock.library.linear_operators.dense import common_batch
from penstock.library.linear_operators.diagonal import LinearOperatorDiag
from penstock.library.linear_operators.identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
)
from penstock.library.linear_operators.matrices import (
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
)
from penstock.library.linear_operators.operator import LinearOperator
from penstock.ops.array import nodes

_IDENTITIES = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
_Hints = dict[str, Any]


class Adder(NamedTuple):
    """What the sum of two operators is, if both are of the kinds that it knows.

    ``make(first, second, name, hints)`` gives the sum.
    """

    kinds: tuple[type, ...]
    make: Callable[[Any, Any, str, _Hints], Any]

    def can_add(self, first: Any, second: Any) -> bool:
        """Whether both operators are of the kinds."""
        return isinstance(first, self.kinds) and isinstance(second, self.kinds)

    def add(self, first: Any, second: Any, name: str) -> Any:
        """The sum."""
        return self.make(first, second, name, _hints(first, second))


def _hints(first: Any, second: Any) -> _Hints:
    """What is true of a sum because it is of both operators."""
    self_adjoint = bool(first.is_self_adjoint and second.is_self_adjoint)
    positive = bool(first.is_positive_definite and second.is_positive_definite)
    return {
        "is_self_adjoint": self_adjoint or None,
        "is_positive_definite": positive or None,
        "is_non_singular": (positive and self_adjoint) or None,
    }


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return nodes.ones(operator.batch_shape_tensor(), operator.dtype)


def _scaled_identity(first: Any, second: Any, name: str, hints: _Hints) -> Any:
    rows = first.domain_dimension
    if rows.value is None:
        rows = first.domain_dimension_tensor()
    multiplier = _multiplier(first) + _multiplier(second)
    return LinearOperatorScaledIdentity(rows, multiplier, name=name, **hints)


def _diagonal(first: Any, second: Any, name: str, hints: _Hints) -> Any:
    return LinearOperatorDiag(first.diag_part() + second.diag_part(), name=name, **hints)


def _triangular(first: Any, second: Any, name: str, hints: _Hints) -> Any:
    total = _added_to_dense(first, second, LinearOperatorLowerTriangular)
    return LinearOperatorLowerTriangular(total, name=name, **hints)


def _matrix(first: Any, second: Any, name: str, hints: _Hints) -> Any:
    total = _added_to_dense(first, second, LinearOperatorFullMatrix)
    return LinearOperatorFullMatrix(total, name=name, **hints)


def _added_to_dense(first: Any, second: Any, dense: type) -> Any:
    if isinstance(first, dense):
        first, second = second, first
    return first.add_to_tensor(second.to_dense())


def _scaled_identities() -> Adder:
    return Adder(_IDENTITIES, _scaled_identity)


def _diagonals() -> Adder:
    return Adder((LinearOperatorDiag, *_IDENTITIES), _diagonal)


def _triangles() -> Adder:
    kinds = (LinearOperatorDiag, LinearOperatorLowerTriangular, *_IDENTITIES)
    return Adder(kinds, _triangular)


def _matrices() -> Adder:
    return Adder((LinearOperator,), _matrix)


def add_operators(
    operators: Sequence[Any],
    operator_name: str | None = None,
    addition_tiers: Sequence[Sequence[Adder]] | None = None,
    name: str | None = None,
) -> list[Any]:
    """The operators, of which those are added up that can be.

    Args:
      operators: LinearOperators of one shape; their batches broadcast.
      operator_name: the name of a sum; made of the names of both by default.
      addition_tiers: lists of adders, of which the first is used up before the next is begun; the
        simplest operators are added first by default, and all to one in the end.

    Returns:
      The sums, and what has no adder.

    Raises:
      ValueError: no operators, or their shapes do not fit.
    """
    _check(operators)
    tiers = addition_tiers or [
        [_scaled_identities()], [_diagonals()], [_triangles()], [_matrices()],
    ]  # fmt: skip
    found = list(reversed(operators))
    with name_scope(name, "add_operators", [p for one in operators for p in one.graph_parents]):
        for tier in tiers:
            found = _of_tier(found, tier, operator_name)
    return found


def _of_tier(operators: list[Any], tier: Sequence[Adder], name: str | None) -> list[Any]:
    waiting, done = list(operators), []
    while waiting:
        first = waiting.pop()
        match = _match(first, waiting, tier)
        if match is None:
            done.append(first)
            continue
        index, adder = match
        second = waiting.pop(index)
        both = f"Add/{first.name}__{second.name}/" if name is None else name
        waiting.append(adder.add(first, second, both))
    return done


def _match(first: Any, others: list[Any], tier: Sequence[Adder]) -> tuple[int, Adder] | None:
    for index in reversed(range(len(others))):
        for adder in tier:
            if adder.can_add(first, others[index]):
                return index, adder
    return None


def _check(operators: Sequence[Any]) -> None:
    if not operators:
        raise ValueError(
            f"Argument 'operators' must contain at least one operator.  Found: {operators}"
        )
    for what in ("domain", "range"):
        sizes = [(one.name, getattr(one, f"{what}_dimension").value) for one in operators]
        if len({size for _, size in sizes if size is not None}) > 1:
            raise ValueError(f"Operators must have the same {what} dimension. Found: {sizes}")
    common_batch([one.batch_shape for one in operators])
