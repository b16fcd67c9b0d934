"""``tf.make_template``: a function of tensors whose variables are made once, for all its calls.

State of a ``Template``: its variable scope, once it has one, and whether a call has ended well.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.base import origin
from penstock.foundation.graph.collecting import get_collection
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.creation import variable_creator_scope
from penstock.library.variables.scope import VariableScope
from penstock.library.variables.scoping import reserved_scope, variable_scope

_log = logging.getLogger(__name__)


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Template:
    """A function that makes its variables in its first call and uses them in later ones.

    Args:
      name_: name of its scope, made unique.
      func_: the function; it makes variables with ``tf.get_variable``.
      create_scope_now_: whether the scope is chosen now, else in the first call.
      unique_name_: name of the scope in place of ``name_``, as it is.
      custom_getter_: as of ``tf.get_variable``.
      **kwargs: arguments of ``func_`` in all calls.

    Returns:
      The function, a ``Template``.

    Raises:
      ValueError: ``name_`` is None.

    Example:
      >>> import penstock as tf
      >>> def scale(x, name):
      ...     return x * tf.get_variable(name, [], initializer=tf.ones_initializer())
      >>> with tf.Graph().as_default():
      ...     twice = tf.make_template("layer", scale, name="w")
      ...     made = [twice(1.0), twice(2.0)]
      ...     [v.name for v in tf.global_variables()]
      ['layer/w:0']
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


class Template:
    """A function whose variables are shared by its calls; ``make_template`` makes it.

    Args:
      name, func, create_scope_now, unique_name, custom_getter: as of ``make_template``.
    """

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Any = None,
    ) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._name, self._func = name, func
        self._unique_name, self._getter = unique_name, custom_getter
        self._made_at = origin.capture()
        self._scope: VariableScope | None = None
        self._called = self._first_begun = False
        self._checkpoint_dependencies: list[tuple[str, Any]] = []
        if create_scope_now:
            self._scope = reserved_scope(unique_name, name, custom_getter)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function in the template's variable scope.

        Raises:
          ValueError: a later call makes trainable variables, or asks for one that is not there.
        """
        if self._scope is not None:
            with variable_scope(self._scope, reuse=self._first_begun):
                return self._call(args, kwargs)
        with variable_scope(
            self._unique_name, self._name, custom_getter=self._getter
        ) as self._scope:
            return self._call(args, kwargs)

    @property
    def _variables_created(self) -> bool:
        """Whether a first call has made the variables, under the name that libraries know."""
        return self._called

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Has checkpoints of the template save the variables of its scope that are made now."""
        scope: Any = self.variable_scope
        prefix = f"{scope.name}/"

        def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            made = next_creator(**kwargs)
            name = made._shared_name
            if name.startswith(prefix):
                tracked = self._checkpoint_dependencies
                # A scope around this one may have tracked it.
                if not any(known is made for _, known in tracked):
                    tracked.append((name[len(prefix) :], made))
            return made

        with variable_creator_scope(create):
            yield

    def _call(self, args: Any, kwargs: Any) -> Any:
        try:
            if self._called:
                return self._call_again(args, kwargs)
            if self._first_begun:  # it calls itself
                return self._func(*args, **kwargs)
            self._first_begun = True
            try:
                with self.capturing():
                    result = self._func(*args, **kwargs)
            except BaseException:
                self._first_begun = False
                raise
            self._called = True
            return result
        except Exception as error:
            where = f"the template {self._name!r} was made at {self._made_at}"
            if self._made_at and where not in getattr(error, "__notes__", ()):
                error.add_note(where)
            raise

    def _call_again(self, args: Any, kwargs: Any) -> Any:
        before = [len(get_collection(key)) for key in _COLLECTIONS]
        result = self._func(*args, **kwargs)
        trainable, others = (
            get_collection(key)[count:] for key, count in zip(_COLLECTIONS, before, strict=True)
        )
        said = (
            "variable created when calling a template after the first time, perhaps you used"
            " tf.Variable when you meant tf.get_variable"
        )
        if trainable:
            raise ValueError(f"Trainable {said}: {trainable}")
        if others:
            _log.info("New %s: %s", said, others)
        return result

    # ---- properties ------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name given."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function."""
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """Its variable scope; None before it has one."""
        return self._scope

    @property
    def var_scope(self) -> VariableScope | None:
        """Former name of ``variable_scope``."""
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        """Name of the scope with a slash at its end; None before it has one."""
        if self._scope is None:
            return None
        name = self._scope.name
        return name if not name or name.endswith("/") else f"{name}/"

    def _collected(self, key: str) -> list[Any]:
        return get_collection(key, self.variable_scope_name) if self._called else []

    @property
    def trainable_variables(self) -> list[Any]:
        """Its trainable variables; none before a call has ended."""
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def global_variables(self) -> list[Any]:
        """Its global variables; none before a call has ended."""
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """Its local variables; none before a call has ended."""
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Its global variables that are not trained."""
        trained = self.trainable_variables
        return [v for v in self.global_variables if not any(v is one for one in trained)]

    @property
    def variables(self) -> list[Any]:
        """Its global and local variables."""
        return self.global_variables + self.local_variables

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


_COLLECTIONS = (GraphKeys.TRAINABLE_VARIABLES, GraphKeys.GLOBAL_VARIABLES)
