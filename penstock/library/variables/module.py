"""``tf.Module``: an object that knows the variables and modules among its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from penstock.foundation.graph import nest_paths
from penstock.foundation.graph.scopes import name_scope
from penstock.library.variables.auto_trackable import AutoTrackable
from penstock.library.variables.variable import Variable

_IDENTIFIER = re.compile(r"^[a-zA-Z_]\w*$")
_WORD_BEFORE_WORD = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")


def _snake_case(name: str) -> str:
    """``TwoWords`` as ``two_words``."""
    return _WORD_BEFORE_WORD.sub(r"_\1", name).lower()


class Module(AutoTrackable):
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

    # The attributes in which no variables and modules are looked for; libraries add to it.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(
        ("_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names")
    )

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
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of the ``variables`` that are trainable."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules in attributes, and in theirs."""
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Module)))

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method to be run in the module's name scope."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
    ) -> Iterator[Any]:
        """The leaves of the attributes, under the name that libraries know.

        Args:
          recursive: whether to go on in submodules, after the module's own leaves.
          predicate: says which leaves to give; None: all.
          attribute_traversal_key: sorts the attributes, as for ``sorted``; None: by name.
          with_path: whether to give pairs of the way to a leaf and the leaf; then leaves that are
            reached by several ways come as often, otherwise once.
        """
        walk = _Walk(recursive, predicate, attribute_traversal_key, with_path)
        return walk.leaves(self)


class _Walk:
    """One walk through the attributes of a module; the arguments are those of ``_flatten``."""

    def __init__(
        self,
        recursive: bool,
        predicate: Callable[[Any], bool] | None,
        key: Callable[[str], Any] | None,
        with_path: bool,
    ) -> None:
        self._recursive, self._predicate = recursive, predicate
        self._key, self._with_path = key, with_path
        self._seen: set[int] = set()

    def leaves(self, module: Module, path: tuple[Any, ...] = ()) -> Iterator[Any]:
        self._seen.add(id(module))
        inner = []
        attributes = vars(module)
        ignored = module._TF_MODULE_IGNORED_PROPERTIES
        for name in sorted(attributes, key=self._key):
            if name in ignored:
                continue
            for steps, leaf in nest_paths.flatten_with_tuple_paths(attributes[name]):
                if not self._with_path:
                    if id(leaf) in self._seen:
                        continue
                    self._seen.add(id(leaf))
                way = (*path, name, *steps)
                if self._predicate is None or self._predicate(leaf):
                    yield (way, leaf) if self._with_path else leaf
                if self._recursive and isinstance(leaf, Module):
                    inner.append((way, leaf))
        for way, leaf in inner:
            yield from self.leaves(leaf, way)
