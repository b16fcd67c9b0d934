"""Rules by the classes of operators: what an adjoint, inverse, factor, product or solution is.

A rule stands for its classes and theirs below.  Where several fit, the one whose classes are
nearest wins, the first written among equals; the base class has the general rule, which wraps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_Rule = Callable[..., Any]


class Rules:
    """One question about operators, with the answers by their classes.

    Args:
      question: what is asked, for messages.
    """

    def __init__(self, question: str) -> None:
        self._question = question
        self._rules: dict[tuple[type, ...], _Rule] = {}
        self._found: dict[tuple[type, ...], _Rule] = {}

    def of(self, *classes: type) -> Callable[[_Rule], _Rule]:
        """Decorates the rule for operators of ``classes``."""

        def register(rule: _Rule) -> _Rule:
            self._rules[classes] = rule
            self._found.clear()
            return rule

        return register

    def __call__(self, *operators: Any) -> Any:
        """The answer for these operators.

        Raises:
          NotImplementedError: no rule fits their classes.
        """
        kinds = tuple(type(operator) for operator in operators)
        rule = self._found.get(kinds)
        if rule is None:
            rule = self._found[kinds] = self._nearest(kinds)
        return rule(*operators)

    def _nearest(self, kinds: tuple[type, ...]) -> _Rule:
        fitting = [
            (sum(k.__mro__.index(c) for k, c in zip(kinds, classes, strict=True)), number, rule)
            for number, (classes, rule) in enumerate(self._rules.items())
            if all(issubclass(k, c) for k, c in zip(kinds, classes, strict=True))
        ]
        if not fitting:
            names = ", ".join(kind.__name__ for kind in kinds)
            raise NotImplementedError(f"no rule for the {self._question} of {names}")
        return min(fitting, key=lambda row: row[:2])[2]


ADJOINT = Rules("adjoint")
INVERSE = Rules("inverse")
CHOLESKY = Rules("Cholesky factor")
PRODUCT = Rules("product")
SOLUTION = Rules("solution")
