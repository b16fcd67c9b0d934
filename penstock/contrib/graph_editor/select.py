"""Choosing operations and tensors: by regular expressions, by what is around them, by walks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from penstock.contrib.graph_editor import lists
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

_OPS, _TS = "(?#ops)", "(?#ts)"
Step = Callable[[Operation], Iterable[Operation]]


# ---- regular expressions -------------------------------------------------------------------------


def can_be_regex(obj: Any) -> bool:
    """Whether it is a string or a compiled regular expression.

    >>> can_be_regex("^a/"), can_be_regex(3)
    (True, False)
    """
    return isinstance(obj, str | re.Pattern)


def make_regex(obj: Any) -> re.Pattern[str]:
    """A compiled regular expression.

    Raises:
      ValueError: it is neither a string nor one.
    """
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def filter_ops(ops: Any, positive_filter: Any) -> list[Operation]:
    """The operations that a function says True of.

    Args:
      ops: operations, or a graph.
      positive_filter: the function; or True, for all.

    Raises:
      TypeError: they are no operations.
    """
    found = lists.make_list_of_op(ops)
    return found if positive_filter is True else [op for op in found if positive_filter(op)]


def filter_ops_from_regex(ops: Any, regex: Any) -> list[Operation]:
    """The operations in whose names a regular expression is found.

    Raises:
      ValueError: it is no regular expression.
      TypeError: they are no operations.
    """
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


def get_name_scope_ops(ops: Any, scope: str) -> list[Operation]:
    """The operations of a name scope.

    Args:
      ops: operations, or a graph.
      scope: its name.
    """
    return filter_ops_from_regex(ops, f"^{re.escape(scope.rstrip('/'))}(/.*)?$")


def filter_ts(ops: Any, positive_filter: Any) -> list[Tensor]:
    """Inputs and outputs of operations that a function says True of.

    Args:
      ops: operations, or a graph.
      positive_filter: the function; or True, for all.

    Raises:
      TypeError: they are no operations.
    """
    found = lists.make_list_of_op(ops)
    tensors = [t for op in found for t in op.inputs] + [t for op in found for t in op.outputs]
    if positive_filter is True:
        return lists.without_repeats(tensors, lambda t: True)
    return lists.without_repeats(tensors, positive_filter)


def filter_ts_from_regex(ops: Any, regex: Any) -> list[Tensor]:
    """Inputs and outputs of operations in whose names a regular expression is found.

    Raises:
      ValueError: it is no regular expression.
      TypeError: they are no operations.
    """
    pattern = make_regex(regex)
    return filter_ts(ops, lambda t: pattern.search(t.name))


# ---- what is around ------------------------------------------------------------------------------


def check_cios(
    control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[Any, Any]:
    """Which control edges are meant.

    Args:
      control_inputs: whether control inputs are.
      control_outputs: a ``ControlOutputs`` if control outputs are.
      control_ios: a ``ControlOutputs`` if both are.

    Returns:
      The first two of them.

    Raises:
      ValueError: ``control_ios`` and another of them.
      TypeError: something is no ``ControlOutputs``.
    """
    if control_ios is not None:
        lists.check_control_outputs(control_ios)
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs, control_outputs = True, control_ios
    elif control_outputs is not None:
        lists.check_control_outputs(control_outputs)
    if control_outputs is not None:
        control_outputs.update()
    return control_inputs, control_outputs


def _before(op: Operation, control_inputs: bool) -> list[Operation]:
    return [t.op for t in op.inputs] + (list(op.control_inputs) if control_inputs else [])


def _after(op: Operation, control_outputs: Any) -> list[Operation]:
    found = [user for t in op.outputs for user in t.consumers()]
    return found + (list(control_outputs.get(op)) if control_outputs is not None else [])


def get_ops_ios(
    ops: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> list[Operation]:
    """The operations that some operations take from, and that take from them.

    Args:
      ops: operations, or a graph.
      control_inputs, control_outputs, control_ios: as of ``check_cios``.

    Raises:
      TypeError: they are no operations.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found = lists.make_list_of_op(ops)
    before = [x for op in found for x in _before(op, control_inputs)]
    after = [x for op in found for x in _after(op, control_outputs)]
    return lists.without_repeats(before + after, lambda op: True)


def compute_boundary_ts(ops: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """The tensors at the boundary of some operations.

    Args:
      ops: operations, or a graph.

    Returns:
      Those that come from outside; those that are taken outside, or nowhere; and those that are
      taken inside, which may be of the second kind, too.

    Raises:
      TypeError: they are no operations.
    """
    found = lists.make_list_of_op(ops)
    inside = set(found)
    taken = lists.without_repeats((t for op in found for t in op.inputs), lambda t: True)
    made = [t for op in found for t in op.outputs]
    return (
        [t for t in taken if t.op not in inside],
        [t for t in made if not t.uses or not inside.issuperset(t.uses)],
        [t for t in taken if t.op in inside],
    )


def get_within_boundary_ops(
    ops: Any,
    seed_ops: Any,
    boundary_ops: Any = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Operation]:
    """The operations that are reached from some, either way, up to a boundary.

    Args:
      ops: operations, or a graph: where to look.
      seed_ops: where to begin.
      boundary_ops: where to stop.
      inclusive: whether the boundary is part of it.
      control_inputs, control_outputs, control_ios: as of ``check_cios``.

    Raises:
      TypeError: they are no operations.
      ValueError: a seed is on the boundary.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    allowed = set(lists.make_list_of_op(ops))
    seeds = lists.make_list_of_op(seed_ops, allow_graph=False)
    boundary = set(lists.make_list_of_op(boundary_ops))
    if boundary.intersection(seeds):
        raise ValueError("Boundary is intersecting with the seeds.")

    def around(op: Operation) -> list[Operation]:
        if op in boundary:
            return []
        return [*_before(op, control_inputs), *_after(op, control_outputs)]

    found = _reached(seeds, around, lambda op: op in allowed)
    return found if inclusive else [op for op in found if op not in boundary]


# ---- walks ---------------------------------------------------------------------------------------


def _reached(
    seeds: Iterable[Operation], step: Step, within: Callable[[Operation], bool]
) -> list[Operation]:
    """The seeds, and what is reached from them, level by level."""
    found = dict.fromkeys(seeds)
    level = list(found)
    while level:
        following = dict.fromkeys(x for op in level for x in step(op))
        level = [op for op in following if op not in found and within(op)]
        found.update(dict.fromkeys(level))
    return list(found)


def _seeds(given: Any, of_tensors: Callable[[Any], list[Operation]]) -> list[Operation]:
    items = [given] if isinstance(given, Tensor | Operation) else given
    if isinstance(items, Graph):
        return items.get_operations()
    items = list(items) if isinstance(items, Iterable) else items
    if items and isinstance(items, list) and isinstance(items[0], Tensor):
        return lists.without_repeats(of_tensors(items), lambda op: True)
    return lists.make_list_of_op(items, allow_graph=False)


def _within(within_ops: Any, function: Any) -> Callable[[Operation], bool]:
    allowed = set(lists.make_list_of_op(within_ops, allow_graph=False)) if within_ops else None

    def within(op: Operation) -> bool:
        return (allowed is None or op in allowed) and (function is None or bool(function(op)))

    return within


def _walked(
    seeds: list[Operation], step: Step, inclusive: bool, within: Callable[[Operation], bool]
) -> list[Operation]:
    found = _reached(seeds, step, within)
    return found if inclusive else [op for op in found if op not in seeds]


def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    stop_at_ts: Any = (),
    control_outputs: Any = None,
) -> list[Operation]:
    """The operations that come after some.

    Args:
      seed_ops: where to begin: operations, or tensors, whose consumers are meant.
      inclusive: whether these are part of it.
      within_ops: where to stay; None for the whole graph.
      within_ops_fn: what says of an operation whether it is where to stay; or None.
      stop_at_ts: tensors that are not followed.
      control_outputs: a ``ControlOutputs`` if those that wait are followed, too.

    Raises:
      TypeError: they are no operations.
    """
    _, control_outputs = check_cios(False, control_outputs)
    seeds = _seeds(seed_ops, lists.get_consuming_ops)
    stop = frozenset(lists.make_list_of_t(stop_at_ts))

    def step(op: Operation) -> list[Operation]:
        found = [user for t in op.outputs if t not in stop for user in t.consumers()]
        return found + (list(control_outputs.get(op)) if control_outputs is not None else [])

    return _walked(seeds, step, inclusive, _within(within_ops, within_ops_fn))


def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[Operation]:
    """The operations that come before some.

    Args:
      seed_ops: where to begin: operations, or tensors, whose makers are meant.
      inclusive, within_ops, within_ops_fn, stop_at_ts: as of ``get_forward_walk_ops``.
      control_inputs: whether control inputs are followed, too.

    Raises:
      TypeError: they are no operations.
    """
    seeds = _seeds(seed_ops, lists.get_generating_ops)
    stop = frozenset(lists.make_list_of_t(stop_at_ts))

    def step(op: Operation) -> list[Operation]:
        found = [t.op for t in op.inputs if t not in stop]
        return found + (list(op.control_inputs) if control_inputs else [])

    return _walked(seeds, step, inclusive, _within(within_ops, within_ops_fn))


def get_walks_intersection_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Operation]:
    """The operations after some and before others.

    Args:
      forward_seed_ops, forward_inclusive: as of ``get_forward_walk_ops``.
      backward_seed_ops, backward_inclusive: as of ``get_backward_walk_ops``.
      within_ops, within_ops_fn: as of both.
      control_inputs, control_outputs, control_ios: as of ``check_cios``.

    Raises:
      TypeError: they are no operations.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    after = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, (), control_outputs
    )
    before = get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, (), control_inputs
    )
    both = set(before)
    return [op for op in after if op in both]


def get_walks_union_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Operation]:
    """The operations after some or before others.

    Args:
      forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, within_ops,
        within_ops_fn, control_inputs, control_outputs, control_ios: as of
        ``get_walks_intersection_ops``.

    Raises:
      TypeError: they are no operations.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    after = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, (), control_outputs
    )
    before = get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, (), control_inputs
    )
    return list(dict.fromkeys([*after, *before]))


# ---- selecting -----------------------------------------------------------------------------------


def _keywords(kwargs: dict[str, Any], restrict: str) -> tuple[Any, Any, bool]:
    graph = kwargs.pop("graph", None)
    positive_filter = kwargs.pop("positive_filter", None)
    restricted = kwargs.pop(restrict, False)
    if kwargs:
        raise ValueError(f"Wrong keywords argument: {next(iter(kwargs))}.")
    if graph is not None:
        lists.check_graph(graph)
    return graph, positive_filter, restricted


def _matches(pattern: re.Pattern[str], own: str, other: str, restricted: bool) -> bool:
    text = pattern.pattern
    return text.startswith(own) if restricted else not text.startswith(other)


def select_ops(*args: Any, **kwargs: Any) -> list[Operation]:
    """Operations out of operations, lists of them, and regular expressions for names.

    A pattern that begins with ``(?#ts)`` is for tensors, and passed over.

    Args:
      *args: what to select.
      graph: where names are looked for.
      positive_filter: what says of an operation whether a pattern may find it.
      restrict_ops_regex: whether only patterns that begin with ``(?#ops)`` are taken.

    Raises:
      TypeError: ``graph`` is none, or an argument is something else.
      ValueError: a pattern without a graph, or another keyword.
    """
    graph, positive_filter, restricted = _keywords(kwargs, "restrict_ops_regex")
    found: list[Operation] = []
    for arg in args:
        if not can_be_regex(arg):
            found += lists.make_list_of_op(_listed(arg), ignore_ts=True)
            continue
        if graph is None:
            raise ValueError("Use the keyword argument 'graph' to use regex.")
        pattern = make_regex(arg)
        if _matches(pattern, _OPS, _TS, restricted):
            named = filter_ops_from_regex(graph, pattern)
            found += named if positive_filter is None else filter_ops(named, positive_filter)
    return lists.without_repeats(found, lambda op: True)


def select_ts(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Tensors out of tensors, lists of them, and regular expressions for names.

    A pattern that begins with ``(?#ops)`` is for operations, and passed over.

    Args:
      *args: what to select.
      graph: where names are looked for.
      positive_filter: what says of a tensor whether a pattern may find it.
      restrict_ts_regex: whether only patterns that begin with ``(?#ts)`` are taken.

    Raises:
      TypeError: ``graph`` is none, or an argument is something else.
      ValueError: a pattern without a graph, or another keyword.
    """
    graph, positive_filter, restricted = _keywords(kwargs, "restrict_ts_regex")
    found: list[Tensor] = []
    for arg in args:
        if not can_be_regex(arg):
            found += lists.make_list_of_t(_listed(arg), ignore_ops=True)
            continue
        if graph is None:
            raise ValueError("Use the keyword argument 'graph' to use regex.")
        pattern = make_regex(arg)
        if _matches(pattern, _TS, _OPS, restricted):
            named = filter_ts_from_regex(graph, pattern)
            keep = (lambda t: True) if positive_filter is None else positive_filter
            found += [t for t in named if keep(t)]
    return lists.without_repeats(found, lambda t: True)


def _listed(arg: Any) -> Any:
    if isinstance(arg, Graph):
        return arg
    return lists.checked(arg, (Operation, Tensor), one_graph=True)


def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple[list[Operation], list[Tensor]]:
    """Operations and tensors; patterns for tensors begin with ``(?#ts)``.

    Args:
      *args, graph, positive_filter: as of ``select_ops`` and ``select_ts``.

    Raises:
      TypeError, ValueError: as of these.
    """
    return (
        select_ops(*args, restrict_ops_regex=False, **kwargs),
        select_ts(*args, restrict_ts_regex=True, **kwargs),
    )
