"""``tf.cond`` and ``smart_cond``.

Both branches are built, each in a context of its own, and a ``Merge`` a result takes the one that
lives.  Nodes, names and their order are TF's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes, origin
from penstock.foundation.graph import nest
from penstock.foundation.graph.collecting import add_to_collection
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.control_flow import structure
from penstock.library.control_flow.context import CondContext
from penstock.ops.array import nodes
from penstock.ops.control import control, control_flow


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """What ``true_fn`` returns if ``pred`` is true when the step runs, else what ``false_fn`` does.

    Nodes made by a function run only if its branch is taken.  What it takes from outside was made
    outside, and runs in any case.

    Args:
      pred: a bool scalar tensor.
      true_fn, false_fn: make the branches; return nestings of tensors of one form, with equal
        dtypes.  An operation among them stands for itself having run.
      strict: whether a list or tuple of one stays one.
      fn1, fn2: older names of ``true_fn`` and ``false_fn``.

    Returns:
      A nesting of tensors.

    Raises:
      TypeError: ``pred`` is a Python bool or has another dtype, a function is missing, or the
        branches' nestings are of different types.
      ValueError: ``pred`` is no scalar, a branch gives nothing, or the branches differ in number
        or dtype.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.constant(2.0)
      ...     tf.cond(x > 1.0, lambda: x * 10.0, lambda: x).op.type
      'Merge'
    """
    true_fn = _only("true_fn", true_fn, "fn1", fn1)
    false_fn = _only("false_fn", false_fn, "fn2", fn2)
    if get_default_graph().executes:
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        result = true_fn() if pred else false_fn()
        return result if strict else _unpacked(result)
    with name_scope(name, "cond", [pred]) as scope:
        where = _Where(scope)
        pred, pivots = _predicate(pred, where)
        true, false = (
            _branch(pred, pivot, index, function, where)
            for pivot, index, function in ((pivots[1], 1, true_fn), (pivots[0], 0, false_fn))
        )
        result = _merged(true, false, strict, where)
    return result if strict else _unpacked(result)


def _only(new_name: str, new: Any, old_name: str, old: Any) -> Any:
    if new is not None and old is not None:
        raise TypeError(f"cond(): {new_name} and {old_name} may not be set simultaneously.")
    function = old if new is None else new
    if function is None:
        raise TypeError(f"cond(): {new_name} argument required")
    if not callable(function):
        raise TypeError(f"{new_name} must be callable.")
    return function


class _Where:
    """The construct that is being built, for errors."""

    def __init__(self, scope: str) -> None:
        self.text = f"tf.cond {scope.rstrip('/')!r}"
        line = origin.capture()
        if line is not None:
            self.text += f", made at {line}"


def _predicate(pred: Any, where: _Where) -> tuple[Tensor, list[Tensor]]:
    """The predicate, and the pivots of the branches for false and for true."""
    if isinstance(pred, bool):
        raise TypeError(f"pred must not be a Python bool\nin {where.text}")
    kind = getattr(pred, "dtype", None)
    if isinstance(kind, dtypes.DType) and kind.base_dtype is not dtypes.bool:
        raise TypeError(
            f"Input 'pred' of 'Switch' Op has type {kind.name} that does not match expected type of"
            f" bool.: pred must be a bool scalar; {getattr(pred, 'name', pred)!r} is"
            f" {kind.name}\nin {where.text}"
        )
    dims = getattr(pred, "sizes", ())
    if isinstance(pred, Tensor) and dims:
        raise ValueError(
            f"Shape must be rank 0 but is rank {len(dims)} for 'Switch': pred must be a bool scalar"
            f" (rank 0); {pred.name!r} has shape"
            f" {pred.shape}\nin {where.text}"
        )
    no, yes = control_flow.switch(pred, pred)
    pivot_true = control.identity(yes, name="switch_t")
    pivot_false = control.identity(no, name="switch_f")
    identity = control.identity(pred, name="pred_id")
    for tensor in (yes, pivot_true, pivot_false, identity):
        tensor.op.graph.prevent_fetching(tensor.op)
    return identity, [pivot_false, pivot_true]


class _Branch:
    """A built branch: its context, what its function gave, and the tensors of that."""

    def __init__(self, context: CondContext, given: Any, result: Any) -> None:
        self.context, self.given, self.result = context, given, result


def _branch(
    pred: Tensor, pivot: Tensor, index: int, function: Callable[[], Any], where: _Where
) -> _Branch:
    context = CondContext(pred, pivot, branch=index)
    label = "true_fn" if index else "false_fn"
    context.Enter()
    try:
        given = function()
        if given is None:
            raise ValueError(f"{label} must have a return value.\nin {where.text}")
        result = nest.map_structure(context.output, given, expand_composites=True)
        if not isinstance(result, list | tuple):
            result = [result]
        context.ExitResult(result)
    finally:
        context.Exit()
    return _Branch(context, given, result)


def _unpacked(result: Any) -> Any:
    return result[0] if isinstance(result, list | tuple) and len(result) == 1 else result


def _merged(true: _Branch, false: _Branch, strict: bool, where: _Where) -> Any:
    given = [b.given if strict else _unpacked(b.given) for b in (true, false)]
    _check_structures(given, [true.result, false.result], where)
    if not true.result:
        raise ValueError(f"true_fn and false_fn must return at least one result.\nin {where.text}")
    yes, no = structure.tensors_of(true.result), structure.tensors_of(false.result)
    _check_types(yes, no, where)
    merges = [control_flow.merge([f, t])[0] for t, f in zip(yes, no, strict=True)]
    merges = structure.with_flows(structure.tensors_of(given[0]), merges)
    if true.context.outer_context is None:
        # Constructs inside are part of the message of the one around them.
        add_to_collection(GraphKeys.COND_CONTEXT, true.context)
        add_to_collection(GraphKeys.COND_CONTEXT, false.context)
    return nest.pack_sequence_as(given[0], merges, expand_composites=True)


def _check_structures(given: list[Any], results: list[Any], where: _Where) -> None:
    true, false = given
    try:
        nest.assert_same_structure(true, false, expand_composites=True)
        for pair in (given, results):
            for one, other in zip(*map(nest.flatten, pair), strict=True):
                _widen_indices(one, other)
        return
    except (TypeError, ValueError):
        pass
    kind: type[Exception]
    try:
        for pair in (given, results):
            nest.map_structure(_widen_indices, *pair)
        nest.assert_same_structure(true, false, expand_composites=True)
    except TypeError as error:
        kind, what = TypeError, f"Incompatible return types of true_fn and false_fn: {error}"
    except ValueError as error:
        kind, what = ValueError, f"Incompatible return values of true_fn and false_fn: {error}"
    else:
        return
    raise kind(f"{what}\nin {where.text}") from None


def _widen_indices(a: Any, b: Any) -> None:
    """Makes the indices of two IndexedSlices int64 where they differ in dtype."""
    if isinstance(a, IndexedSlices) and isinstance(b, IndexedSlices):
        if a.indices.dtype is not b.indices.dtype:
            a._indices = nodes.cast(a.indices, dtypes.int64)
            b._indices = nodes.cast(b.indices, dtypes.int64)


def _check_types(true: list[Tensor], false: list[Tensor], where: _Where) -> None:
    for index, (x, y) in enumerate(zip(true, false, strict=True)):
        if x.dtype.base_dtype is not y.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{x.dtype.name}, {y.dtype.name} (result {index}: {x.name!r} and {y.name!r})"
                f"\nin {where.text}"
            )


# ---- predicates that are known -------------------------------------------------------------------


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """``tf.cond``, or the one branch alone where ``pred`` is known while the graph is built.

    Args:
      pred: a bool, 0, 1, or a bool scalar tensor.
      true_fn, false_fn: make the branches.

    Raises:
      TypeError: a function is not callable, or ``pred`` is something else.
    """
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def smart_constant_value(pred: Any) -> bool | None:
    """``pred`` as a bool where it is known while the graph is built, else None.

    Raises:
      TypeError: it is no bool, 0, 1 or tensor.
    """
    if isinstance(pred, Tensor):
        value = static.constant_value(pred)
        return None if value is None else bool(value)
    if isinstance(pred, bool) or (isinstance(pred, int) and pred in (0, 1)):
        return bool(pred)
    if hasattr(pred, "dtype") and hasattr(pred, "op"):
        return smart_constant_value(convert_to_tensor(pred))
    raise TypeError(
        f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}"
    )


def try_evaluate_constant(graph: Any, output: Any) -> Any:
    """The value of a tensor where it is known while the graph is built, else None.

    Args:
      graph: what the tensor's graph gives as its ``_c_graph``.
      output: what the tensor gives as ``_as_tf_output()``: itself.
    """
    return static.constant_value(output)


control_flow.give_conditional(cond)


def cond_v2(pred: Any, true_fn: Any, false_fn: Any, name: str | None = "cond") -> Any:
    """``cond`` as packages ask for the conditional that is one node in TensorFlow.

    Args:
      pred: a scalar bool.
      true_fn, false_fn: functions without arguments; lists and tuples that they return stay such.
      name: of the scope.
    """
    return cond(pred, true_fn, false_fn, name=name, strict=True)
