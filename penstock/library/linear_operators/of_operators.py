"""What is made of several operators with the hints that follow from theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.foundation.graph.scopes import name_scope
from penstock.library.linear_operators import arguments
from penstock.library.linear_operators.operator import LinearOperator


class OfOperators(LinearOperator):
    """An operator made of others.

    Args:
      operators: of one dtype, as ``arguments.operators_of_one_dtype`` gives them.
      hints: as ``arguments.hints_of_all`` gives them.
      is_square: the hint.
      name: name of the scopes; the operators' names joined by ``separator`` where it is None.
    """

    def __init__(
        self,
        operators: list[Any],
        hints: Mapping[str, Any],
        is_square: bool | None,
        name: str | None,
        separator: str,
    ) -> None:
        self._operators = operators
        if name is None:
            name = separator.join(one.name for one in operators)
        parents = arguments.parents_of(operators)
        with name_scope(name, values=parents):
            super().__init__(operators[0].dtype, parents, is_square=is_square, name=name, **hints)

    @property
    def operators(self) -> list[Any]:
        """What it is made of, in order: blocks from the upper left, or factors."""
        return self._operators
