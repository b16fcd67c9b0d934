"""Variables of models: making them, and finding them in collections by scope and name."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.foundation.base import dtypes
from penstock.foundation.base.devices import DeviceSpec
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.getting import get_variable
from penstock.library.variables.global_step import (
    assert_global_step as assert_global_step,
    create_global_step as create_global_step,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
)
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.variable import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from penstock.ops.array import fill
from penstock.ops.state.state import assign

# ---- making ----------------------------------------------------------------------------------


def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """``global_step_tensor`` after a check; without one, the global step of ``graph``.

    Raises:
      TypeError: it cannot be a global step.
    """
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def _untrained(
    key: str, initial_value: Any, validate_shape: bool, name: str | None, use_resource: bool | None
) -> Any:
    return Variable(
        initial_value,
        trainable=False,
        collections=[key],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """A variable of ``GraphKeys.LOCAL_VARIABLES`` that is not trained.

    Args:
      initial_value: its first value, or a function that gives it.
      validate_shape: whether the shape must be known.
      name: its name.
      use_resource: whether it is a resource variable.
    """
    return _untrained(GraphKeys.LOCAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def global_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """A variable of ``GraphKeys.GLOBAL_VARIABLES`` that is not trained; see ``local_variable``."""
    return _untrained(GraphKeys.GLOBAL_VARIABLES, initial_value, validate_shape, name, use_resource)


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """As ``tf.get_variable``, on a device, with arguments that ``arg_scope`` can set.

    Args:
      name, shape, dtype, initializer, regularizer, trainable, caching_device, partitioner,
      use_resource, synchronization, aggregation: those of ``tf.get_variable``.
      collections: where it is added; default ``GraphKeys.GLOBAL_VARIABLES``.
      device: where it lies: a name, or a function from nodes to names.
      custom_getter: called in place of ``tf.get_variable``, also with ``reuse``.

    Returns:
      The variable.
    """
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    getter: Any = get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=get_variable_scope().reuse)
    with scopes.device(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(keys)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """A ``variable`` that is also in ``GraphKeys.MODEL_VARIABLES``; arguments are its."""
    keys = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=keys,
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def add_model_variable(var: Any) -> None:
    """Adds a variable to ``GraphKeys.MODEL_VARIABLES``, once."""
    if all(known is not var for known in collecting.get_collection(GraphKeys.MODEL_VARIABLES)):
        collecting.add_to_collection(GraphKeys.MODEL_VARIABLES, var)


class VariableDeviceChooser:
    """A device function that deals variables out to the tasks of a job, in turn.

    Args:
      num_tasks: number of tasks; 0 for this one's devices.
      job_name: the job.
      device_type, device_index: the device of each task.
      replica: its replica.
    """

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ) -> None:
        self._num_tasks, self._job_name, self._replica = num_tasks, job_name, replica
        self._device_type, self._device_index = device_type, device_index
        self._next_task_id = 0

    def __call__(self, op: Any) -> str:
        spec = DeviceSpec(
            replica=self._replica, device_type=self._device_type, device_index=self._device_index
        )
        if self._num_tasks > 0:
            spec.job, spec.task = self._job_name, self._next_task_id
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        text: str = spec.to_string()
        return text


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """Sets a variable that has no value yet to zeros.

    Args:
      ref: the variable, of known shape.
      use_locking: accepted for compatibility.
      name: name of the op.

    Returns:
      The op of a resource variable, or the new value of another.
    """
    zeros = fill.zeros(ref.shape, ref.dtype.base_dtype)
    assigned = assign(ref, zeros, name=name)
    return assigned.op if getattr(ref, "handle", None) is not None else assigned


# ---- finding ---------------------------------------------------------------------------------


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of a collection by the beginning and the end of their names.

    Args:
      scope: a variable scope, or the beginning of names (a regular expression); default any.
      suffix: the end of names; default any.
      collection: the collection.

    Returns:
      A list of variables in the order of the collection.
    """
    beginning = getattr(scope, "name", scope)
    if suffix is not None:
        end = suffix if ":" in suffix else f"{suffix}:"
        beginning = f"{beginning or ''}.*{end}"
    found: list[Any] = collecting.get_collection(collection, beginning)
    return found


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """``get_variables`` of ``GraphKeys.MODEL_VARIABLES``."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """``get_variables`` of ``GraphKeys.LOCAL_VARIABLES``."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """``get_variables`` of ``GraphKeys.TRAINABLE_VARIABLES``."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The global variables whose names end so; see ``get_variables``."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The global variables with this name in whatever scope below ``scope``.

    Args:
      given_name: the last part of the name.
      scope: a variable scope or the beginning of names.
    """
    return get_variables(scope, f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Any:
    """The global variable of this full name.

    Raises:
      ValueError: there is none.
    """
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(
        f"Variable {var_op_name} does not uniquely identify a variable; found"
        f" {[v.op.name for v in candidates]}"
    )


def get_variable_full_name(var: Any) -> str:
    """The name of a variable, or of the whole that it is a part of."""
    info = var._get_save_slice_info()
    name: str = info.full_name if info else var.op.name
    return name


def get_variables_to_restore(
    include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
) -> list[Any]:
    """The global variables of some scopes.

    Args:
      include: beginnings of names; default all.
      exclude: beginnings of names to leave out.

    Raises:
      TypeError: an argument is no list or tuple.
    """
    for what, given in (("include", include), ("exclude", exclude)):
        if given is not None and not isinstance(given, list | tuple):
            raise TypeError(f"{what} is provided but is not a list or a tuple; found {given!r}")
    included = [v for scope in [None] if include is None for v in get_variables(scope)]
    included += [v for scope in include or () for v in get_variables(scope)]
    excluded = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in included if id(v) not in excluded]


def filter_variables(
    var_list: Sequence[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose names match.

    Args:
      var_list: variables.
      include_patterns: regular expressions, one of which must match; default any name does.
      exclude_patterns: regular expressions, none of which may match.
      reg_search: whether they match anywhere in the name, or only where it begins.

    Returns:
      A list of variables, in the order given.
    """
    matches = re.search if reg_search else re.match

    def any_of(patterns: Sequence[str], var: Any) -> bool:
        return any(matches(pattern, var.name) for pattern in patterns)

    return [
        var
        for var in var_list
        if (include_patterns is None or any_of(include_patterns, var))
        and not any_of(exclude_patterns or (), var)
    ]
