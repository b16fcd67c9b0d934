"""Who makes a variable: the creator scopes of the graph, then the default creator.

State: per graph, a stack of creators (``variable_creator_scope``); one flag, whether variables are
resource variables by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.foundation.base.decorators import contextmanager
from penstock.foundation.graph.scopes import get_default_graph
from penstock.library.variables import ref_variable, resource_variable, scope
from penstock.library.variables.variable import (
    VariableAggregation,
    VariableSynchronization,
    give_creation,
)

_CREATORS = "variables.creators"
_resource_by_default = False


def enable_resource_variables() -> None:
    """Makes resource variables the default."""
    global _resource_by_default
    _resource_by_default = True


def disable_resource_variables() -> None:
    """Makes reference variables the default, as they are at first."""
    global _resource_by_default
    _resource_by_default = False


def resource_variables_enabled() -> bool:
    """Whether resource variables are the default."""
    return _resource_by_default


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Lets ``variable_creator(next_creator, **kwargs)`` make the variables of a ``with`` block.

    Args:
      variable_creator: returns a variable, usually ``next_creator(**kwargs)`` with changed kwargs;
        the innermost scope is asked first.
    """
    graph = get_default_graph()
    saved = graph.attached.get(_CREATORS, ())
    graph.attached[_CREATORS] = (*saved, variable_creator)
    try:
        yield
    finally:
        graph.attached[_CREATORS] = saved


def create(
    initial_value: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    expected_shape: Any = None,
    import_scope: str | None = None,
    constraint: Any = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
    shape: Any = None,
) -> Any:
    """Makes a variable through the creators; the arguments are those of ``tf.Variable``."""
    kwargs = {
        "initial_value": initial_value, "trainable": trainable, "collections": collections,
        "validate_shape": validate_shape, "caching_device": caching_device, "name": name,
        "variable_def": variable_def, "dtype": dtype, "expected_shape": expected_shape,
        "import_scope": import_scope, "constraint": constraint, "use_resource": use_resource,
        "synchronization": synchronization, "aggregation": aggregation, "shape": shape,
    }  # fmt: skip
    creator: Callable[..., Any] = default_variable_creator
    for outer in get_default_graph().attached.get(_CREATORS, ()):
        creator = _chained(outer, creator)
    return creator(**kwargs)


give_creation(create)


def _chained(creator: Callable[..., Any], following: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **kwargs: creator(following, **kwargs)


def default_variable_creator(next_creator: Any = None, **kwargs: Any) -> Any:
    """Makes a RefVariable or a ResourceVariable, as the arguments and scopes ask."""
    use_resource = kwargs.pop("use_resource", None)
    kwargs.pop("expected_shape", None)
    variable_def = kwargs.get("variable_def")
    if variable_def is not None:
        use_resource = variable_def.is_resource
    scopes = get_default_graph().attached.get(scope.SCOPES)
    if use_resource is None and scopes is not None:  # else no variable scope says anything
        use_resource = scopes.current.use_resource
    if use_resource is None:
        use_resource = _resource_by_default
    use_resource = use_resource or get_default_graph().executes
    if use_resource:
        return resource_variable.ResourceVariable(**kwargs)
    kwargs.pop("shape", None)
    return ref_variable.RefVariable(**kwargs)
