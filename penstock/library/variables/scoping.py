"""Opening a variable scope: ``tf.variable_scope``, with the name scope that goes with it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.decorators import contextmanager
from penstock.foundation.graph import scopes
from penstock.library.variables import store as stores
from penstock.library.variables.scope import VariableScope, name_within, scopes_of_graph

_DEFAULTS = (
    "initializer", "regularizer", "caching_device", "partitioner", "dtype", "use_resource",
    "constraint",
)  # fmt: skip


class _PureScope:
    """A variable scope without its name scope."""

    def __init__(
        self, name_or_scope: Any, reuse: Any, custom_getter: Any, defaults: dict[str, Any],
        name_scope: str | None,
    ) -> None:  # fmt: skip
        self._target, self._reuse, self._getter = name_or_scope, reuse, custom_getter
        self._defaults, self._name_scope = defaults, name_scope
        self._state = scopes_of_graph()

    def __enter__(self) -> VariableScope:
        state = self._state
        self._outer = outer = state.current
        if isinstance(self._target, VariableScope):
            base = self._target
            self._name = base.name
            reuse = self._reuse or base.reuse
            name_scope = base.original_name_scope
            state.open(self._name)
            self._counts: dict[str, int] | None = copy.copy(state.counts)
        else:
            base = outer
            self._name = name_within(outer, self._target)
            # Sharing is inherited by scopes inside.
            reuse = self._reuse or outer.reuse
            name_scope = self._target if self._name_scope is None else self._name_scope
            state.open(self._name)
            self._counts = None
        scope = VariableScope(
            reuse,
            self._name,
            custom_getter=_chained_getter(self._getter, base.custom_getter),
            name_scope=name_scope,
            **{
                key: getattr(base, key) if self._defaults.get(key) is None else self._defaults[key]
                for key in _DEFAULTS
            },
        )
        state.current = scope
        return scope

    def __exit__(self, *exc: Any) -> None:
        state = self._state
        state.close_inside(self._name)
        if self._counts is not None:
            state.counts = self._counts
        state.current = self._outer


class pure_variable_scope(_PureScope):
    """``tf.variable_scope`` without a name scope, as libraries open it.

    Args:
      name_or_scope: a name, or a scope that is opened again.
      reuse, initializer, regularizer, caching_device, partitioner, custom_getter: as of
        ``tf.variable_scope``.
      old_name_scope: what a new scope's ``original_name_scope`` is; its name by default.
      dtype, use_resource, constraint: as of ``tf.variable_scope``.
    """

    def __init__(
        self,
        name_or_scope: Any,
        reuse: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        old_name_scope: str | None = None,
        dtype: Any = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        given = (
            initializer, regularizer, caching_device, partitioner, dtype, use_resource, constraint,
        )  # fmt: skip
        defaults = dict(zip(_DEFAULTS, given, strict=True))
        super().__init__(name_or_scope, reuse, custom_getter, defaults, old_name_scope)


def _chained_getter(getter: Any, outer: Any) -> Any:
    """A getter that asks ``getter``, whose own getter is ``outer``."""
    if getter is None or outer is None:
        return getter or outer

    def chained(getter_of_store: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        def ask_outer(*a: Any, **k: Any) -> Any:
            return outer(getter_of_store, *a, **k)

        return getter(ask_outer, *args, **kwargs)

    def wrapped(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return chained(getter, *args, **kwargs)

    return wrapped


def reserved_scope(name: str | None, default_name: str, custom_getter: Any) -> VariableScope:
    """A scope to enter later, whose name is taken from now on.

    Args:
      name: its name; None: ``default_name``, made unique.
      default_name: as said.
      custom_getter: as of ``variable_scope``.
    """
    unique = name or scopes_of_graph().unique(default_name)
    with _PureScope(unique, None, custom_getter, {}, None) as scope:
        return scope


class variable_scope:
    """Prefixes variable names and sets defaults for ``get_variable`` in a ``with`` block.

    Args:
      name_or_scope: a name, or a VariableScope to enter again.
      default_name: used, made unique, when ``name_or_scope`` is None.
      values: graph elements that say which graph is meant.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource,
        constraint: defaults for ``get_variable`` inside; None inherits.
      reuse: True (variables must exist), AUTO_REUSE (found or made), None or False (inherit).
      auxiliary_name_scope: whether to open a name scope too.

    Raises:
      ValueError: ``reuse`` without a name, or neither name given.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.variable_scope("layer"):
      ...     tf.get_variable("w", [2]).name
      'layer/w:0'
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Sequence[Any] | None = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("variable_scope: give name_or_scope or default_name")
        if name_or_scope is not None and not isinstance(name_or_scope, str | VariableScope):
            raise TypeError(
                "variable_scope: name_or_scope must be a string or a VariableScope; found"
                f" {type(name_or_scope).__name__}"
            )
        if reuse not in (None, True, False, stores.AUTO_REUSE):
            raise ValueError(f"reuse must be True, False, None or AUTO_REUSE; found {reuse!r}")
        if reuse is False:
            reuse = None
        if name_or_scope is None and reuse:
            raise ValueError(
                "reuse=True cannot be used without a name_or_scope: a default name is always a new"
                " scope"
            )
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"auxiliary_name_scope must be a bool; found {auxiliary_name_scope!r}")
        self._name_or_scope, self._default_name = name_or_scope, default_name
        self._values = [v for v in values or () if v is not None]
        self._getter, self._reuse = custom_getter, reuse
        self._defaults = {
            "initializer": initializer, "regularizer": regularizer, "caching_device":
            caching_device,
            "partitioner": partitioner, "dtype": dtype, "use_resource": use_resource,
            "constraint": constraint,
        }  # fmt: skip
        self._auxiliary = auxiliary_name_scope
        self._entered: list[list[Any]] = []

    def __enter__(self) -> VariableScope:
        graph = scopes.graph_from_inputs(self._values)
        opened: list[Any] = []
        self._entered.append(opened)
        try:
            self._open(opened, graph.as_default())
            return self._enter(opened)
        except BaseException:
            self.__exit__(None, None, None)
            raise

    @staticmethod
    def _open(opened: list[Any], context: Any) -> Any:
        value = context.__enter__()
        opened.append(context)
        return value

    def _enter(self, opened: list[Any]) -> VariableScope:
        target = self._name_or_scope
        if target is None:
            text = self._open(opened, self._name_scope_for(self._default_name or ""))
            unique = scopes_of_graph().unique(self._default_name or "")
            return self._pure(opened, unique, text)
        name = target if isinstance(target, str) else target.name.split("/")[-1]
        if not name and self._auxiliary:
            return self._pure(opened, target, None)
        text = self._open(opened, self._name_scope_for(name))
        kept = text if isinstance(target, str) else target.original_name_scope
        return self._pure(opened, target, kept)

    def _pure(self, opened: list[Any], target: Any, name_scope: str | None) -> VariableScope:
        pure = _PureScope(target, self._reuse, self._getter, self._defaults, name_scope)
        scope: VariableScope = self._open(opened, pure)
        return scope

    def _name_scope_for(self, name: str) -> Any:
        if self._auxiliary:
            return scopes.name_scope(name)
        current = scopes.get_default_graph().get_name_scope()
        return scopes.name_scope(f"{current}/" if current else None)

    def __exit__(self, *exc: Any) -> None:
        for context in reversed(self._entered.pop()):
            context.__exit__(*exc)


@contextmanager
def variable_op_scope(
    values: Sequence[Any],
    name_or_scope: Any,
    default_name: str | None = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
) -> Iterator[VariableScope]:
    """Deprecated form of ``variable_scope`` with ``values`` first."""
    with variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
        custom_getter, reuse, dtype, use_resource, constraint,
    ) as scope:  # fmt: skip
        yield scope
