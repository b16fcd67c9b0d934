"""``tf.Module``: an object that knows the variables and modules among its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from penstock.graph import nest
from penstock.graph.scopes import name_scope
from penstock.variables.variable import Variable

__all__ = ["Module"]

_IDENTIFIER = re.compile(r"^[a-zA-Z_]\w*$")
_WORD_BEFORE_WORD = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")


def _snake_case(name: str) -> str:
    """``TwoWords`` as ``two_words``."""
    return _WORD_BEFORE_WORD.sub(r"_\1", name).lower()


class Module:
    """Base of classes with variables: it finds those in its attributes, and in modules there.

    Args:
      name: a Python identifier; the name of the class, in lower case with underscores, by default.

    Raises:
      ValueError: ``name`` is no identifier.

    Example:
      >>> import penstock as tf
      >>> class Line(tf.Module):
      ...     def __init__(self):
      ...         super().__init__()
      ...         self.slope = tf.Variable(2.0, name="slope")
      >>> with tf.Graph().as_default():
      ...     [v.name for v in Line().variables]
      ['slope:0']
    """

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        if not _IDENTIFIER.match(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python"
                " identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The name given, or made from the class."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The scope that was made with the module, to be entered."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables in attributes, by the attributes' names, then those of the submodules."""
        return tuple(found for found in _found_in(self) if isinstance(found, Variable))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of the ``variables`` that are trainable."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules in attributes, and in theirs."""
        return tuple(found for found in _found_in(self) if isinstance(found, Module))

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method to be run in the module's name scope."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _found_in(module: Module, seen: set[int] | None = None) -> Iterator[Any]:
    """Variables and modules among the attributes, each once; a module's own before theirs."""
    seen = {id(module)} if seen is None else seen
    inner = []
    for _, value in sorted(vars(module).items()):
        for leaf in nest.flatten(value):
            if not isinstance(leaf, Variable | Module) or id(leaf) in seen:
                continue
            seen.add(id(leaf))
            yield leaf
            if isinstance(leaf, Module):
                inner.append(leaf)
    for leaf in inner:
        yield from _found_in(leaf, seen)
