"""Variable scopes: prefixes of variable names, defaults for ``get_variable``, and sharing.

State: per graph and thread, the current ``VariableScope`` and how often each scope name was opened
(for the uniqueness of default names); the variables themselves are in ``store``.  A variable's name
depends on variable scopes only; each also opens a name scope for the nodes made inside.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables import store as stores
from penstock.library.variables.store import VariableStore
from penstock.library.variables.variable import VariableAggregation, VariableSynchronization

_SCOPES = "variables.scopes"


def no_regularizer(_: Any) -> None:
    """Given as a regularizer, stops one of an outer scope from applying."""
    return None


class VariableScope:
    """Name prefix and defaults for ``get_variable``; made by ``tf.variable_scope``.

    Args:
      reuse: True, False, None or AUTO_REUSE.
      name: prefix of variable names.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource,
        constraint: defaults for ``get_variable``.
      name_scope: the name scope that goes with it.
    """

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        self._name, self._reuse = name, reuse
        self._initializer, self._regularizer = initializer, regularizer
        self._caching_device, self._partitioner = caching_device, partitioner
        self._custom_getter, self._name_scope = custom_getter, name_scope
        self._dtype, self._use_resource, self._constraint = dtype, use_resource, constraint

    @property
    def name(self) -> str:
        """Prefix of variable names."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope opened when this scope was made."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """True, False, None or AUTO_REUSE."""
        return self._reuse

    @property
    def initializer(self) -> Any:
        """Default initializer."""
        return self._initializer

    @property
    def dtype(self) -> Any:
        """Default element type."""
        return self._dtype

    @property
    def use_resource(self) -> bool | None:
        """Whether variables are resource variables."""
        return self._use_resource

    @property
    def regularizer(self) -> Any:
        """Default regularizer."""
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        """Default caching device."""
        return self._caching_device

    @property
    def partitioner(self) -> Any:
        """Default partitioner."""
        return self._partitioner

    @property
    def custom_getter(self) -> Any:
        """Default custom getter."""
        return self._custom_getter

    @property
    def constraint(self) -> Any:
        """Default constraint."""
        return self._constraint

    def reuse_variables(self) -> None:
        """From now on, variables must exist already."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the default initializer."""
        self._initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        """Sets the default element type."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Says whether variables are resource variables."""
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        """Sets the default regularizer."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Sets the default caching device."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Sets the default partitioner."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Sets the default custom getter."""
        self._custom_getter = custom_getter

    def get_collection(self, name: str) -> list[Any]:
        """Members of a collection whose names are in this scope."""
        return scopes.get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self) -> list[Any]:
        """Trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """Global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """Local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def _full_name(self, name: str | None) -> str:
        if not name:
            return self._name
        return f"{self._name}/{name}" if self._name else name

    def get_variable(
        self,
        var_store: VariableStore,
        name: str | None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Any = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        """The variable ``name`` of this scope in ``var_store``, found or made."""
        # Names depend on variable scopes only, so the name scope is left for the time being.
        with scopes.name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                _check_initializer_dtype(name, initializer, dtype)
            return var_store.get_variable(
                # An empty name means the scope's own, exactly (slots are made so).
                f"{self._name}/" if name == "" else self._full_name(name),
                shape=shape,
                dtype=self._dtype if dtype is None else dtype,
                initializer=self._initializer if initializer is None else initializer,
                regularizer=self._regularizer if regularizer is None else regularizer,
                reuse=self._reuse if reuse is None else reuse,
                trainable=trainable,
                collections=collections,
                caching_device=caching_device or self._caching_device,
                partitioner=partitioner or self._partitioner,
                validate_shape=validate_shape,
                use_resource=self._use_resource if use_resource is None else use_resource,
                custom_getter=custom_getter or self._custom_getter,
                constraint=self._constraint if constraint is None else constraint,
                synchronization=synchronization,
                aggregation=aggregation,
            )


def _check_initializer_dtype(name: str | None, initializer: Any, dtype: Any) -> None:
    found = convert_to_tensor(initializer).dtype.base_dtype
    if found is not dtypes.as_dtype(dtype).base_dtype:
        raise ValueError(
            f"Initializer type '{found}' and explicit dtype '{dtypes.as_dtype(dtype)}' don't"
            f" match, of variable {name!r}"
        )


class _Scopes(threading.local):
    """The current scope, and how often each scope was opened."""

    def __init__(self) -> None:
        self.current = VariableScope(False)
        self.counts: dict[str, int] = {}

    def open(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def close_inside(self, name: str) -> None:
        for key in self.counts:
            if key.startswith(f"{name}/"):
                self.counts[key] = 0

    def unique(self, prefix: str) -> str:
        """``prefix``, or with a number, not opened yet in the current scope."""
        full = self.current._full_name(prefix)
        if not self.counts.get(full):
            return prefix
        number = 1
        while self.counts.get(f"{full}_{number}"):
            number += 1
        return f"{prefix}_{number}"


def scopes_of_graph() -> _Scopes:
    attached = scopes.get_default_graph().attached
    found = attached.get(_SCOPES)
    if found is None:
        found = attached[_SCOPES] = _Scopes()
    return found


def get_variable_scope() -> VariableScope:
    """The current variable scope."""
    return scopes_of_graph().current


def _get_default_variable_store() -> VariableStore:
    return stores.default_store()


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
            self._name = outer._full_name(self._target)
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
            raise ValueError("reuse needs name_or_scope: a default name is always a new scope")
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


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """The variable ``name`` of the current variable scope, found or made.

    Args:
      name: name within the scope.
      shape: shape; not given when the initializer is a constant.
      dtype: element type; default that of the scope, float32.
      initializer: a function of (shape, dtype), a class of one, or a constant; default
        Glorot uniform for floating types, zeros for others.
      regularizer: function of the variable whose result goes to
        ``GraphKeys.REGULARIZATION_LOSSES``.
      trainable, collections, caching_device, validate_shape, use_resource, constraint,
        synchronization, aggregation: as for ``tf.Variable``.
      partitioner: function of (shape, dtype) that says into how many parts each axis is cut.
      custom_getter: function ``f(getter, name, ...)`` asked in place of the usual way.

    Returns:
      A Variable, or a PartitionedVariable when a partitioner was given.

    Raises:
      ValueError: the variable exists and the scope does not share, or does not exist and must; the
        shape or dtype differs from what exists.
    """
    return get_variable_scope().get_variable(
        stores.default_store(), name, shape=shape, dtype=dtype, initializer=initializer,
        regularizer=regularizer, trainable=trainable, collections=collections,
        caching_device=caching_device, partitioner=partitioner, validate_shape=validate_shape,
        use_resource=use_resource, custom_getter=custom_getter, constraint=constraint,
        synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip


def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = False,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """``get_variable`` of a local variable: not trainable, not saved, in LOCAL_VARIABLES."""
    places = [GraphKeys.LOCAL_VARIABLES]
    if collections:
        places = [*collections, GraphKeys.LOCAL_VARIABLES]
    return get_variable(
        name, shape, dtype, initializer, regularizer, False, places, caching_device, partitioner,
        validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation,
    )  # fmt: skip


def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: Any,
    dtype: Any = dtypes.float32,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """Makes the parts of a partitioned variable.

    Args:
      shape: shape of the whole.
      slicing: how many parts each axis is cut into; more than 1 for one axis only.
      initializer: as for ``get_variable``, or the value of the whole.
      dtype: element type; that of ``initializer`` where it is a tensor.
      trainable, collections: as for ``get_variable``.
      name: name of the whole; default ``PartitionedVariable``, made unique.
      reuse: whether to share what exists.

    Returns:
      The parts, in order.

    Raises:
      ValueError: a shape, slicing and initial value that do not fit each other.
    """
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape:"
            f" {list(shape)}, slicing: {list(slicing)}"
        )
    if not shape:
        raise ValueError("A partitioned Variable must have rank at least 1: shape: []")
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        if not callable(initializer):
            known = getattr(initializer, "dtype", None)
            if isinstance(known, dtypes.DType):
                dtype = known.base_dtype
            initializer = convert_to_tensor(initializer, dtype)
            initializer.shape.assert_is_compatible_with(shape)
        variable = scope.get_variable(
            stores.default_store(), None, shape=shape, dtype=dtype, initializer=initializer,
            trainable=trainable, collections=collections,
            partitioner=lambda **_: list(slicing),
        )  # fmt: skip
    return list(variable)
