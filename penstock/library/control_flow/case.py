"""``tf.case``: conditionals in a row, the first whose condition holds is taken."""

from __future__ import annotations

import collections
import functools
import logging
from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow import cond as conditional
from penstock.ops.array import join, nodes
from penstock.ops.control import debug
from penstock.ops.math import comparison, reduction

_log = logging.getLogger(__name__)
_Action = Callable[[], Any]


def case(
    pred_fn_pairs: Any,
    default: _Action | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """What the function of the first true condition returns, else what ``default`` does.

    Args:
      pred_fn_pairs: a list of pairs, or dict, of a bool scalar tensor and a function.
      default: called when none holds; without it that is an error of the step.
      exclusive: whether it is an error of the step that two hold.
      strict: as of ``tf.cond``.

    Returns:
      A nesting of tensors.

    Raises:
      TypeError: ``pred_fn_pairs`` is something else, a condition is no bool tensor, or a function
        is not callable.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.constant(1)
      ...     y = tf.case([(x < 1, lambda: x), (x > 5, lambda: x + 1)], lambda: x - 1)
      >>> y.op.name
      'case/cond/Merge'
    """
    return case_by(conditional.cond, pred_fn_pairs, default, exclusive, name, False, strict=strict)


def smart_case(
    pred_fn_pairs: Any,
    default: _Action | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """``tf.case`` with branches of conditions that are known already decided."""
    return case_by(conditional.smart_cond, pred_fn_pairs, default, exclusive, name, True)


def case_by(
    cond_fn: Callable[..., Any],
    pred_fn_pairs: Any,
    default: _Action | None,
    exclusive: bool,
    name: str,
    allow_python_preds: bool = False,
    **cond_kwargs: Any,
) -> Any:
    """``tf.case`` by another function than ``tf.cond``.

    Args:
      cond_fn: takes a condition, ``true_fn``, ``false_fn``, and the further arguments.
      pred_fn_pairs, default, exclusive: as of ``tf.case``.
      allow_python_preds: whether conditions may be Python's bools.
      **cond_kwargs: what ``cond_fn`` is given besides.
    """
    predicates, actions = _checked(pred_fn_pairs, exclusive, name, allow_python_preds)
    with name_scope(name, "case", [p for p in predicates if isinstance(p, Tensor)]):
        if default is None:
            default, predicates, actions = _default_action(predicates, actions)
        function: Any = default
        for predicate, action in reversed(list(zip(predicates, actions, strict=True))):
            function = functools.partial(
                cond_fn, predicate, true_fn=action, false_fn=function, **cond_kwargs
            )
        if not exclusive:
            return function()
        with control_dependencies([_at_most(predicates, 1, "Input error: exclusive=True")]):
            return function()


def _checked(
    pairs: Any, exclusive: bool, name: str, python_preds: bool
) -> tuple[list[Any], list[_Action]]:
    if not isinstance(pairs, list | tuple | dict):
        raise TypeError(
            f"{name}: pred_fn_pairs must be a list, tuple, or dict; found {type(pairs).__name__}"
        )
    if isinstance(pairs, collections.OrderedDict):
        pairs = list(pairs.items())
    elif isinstance(pairs, dict):
        pairs = sorted(pairs.items(), key=lambda item: item[0].name)
        if not exclusive:
            _log.warning(
                "%s: conditions came in a dict and are not exclusive: they are tried in the order"
                " of their names",
                name,
            )
    if not pairs:
        raise ValueError(f"{name}: pred_fn_pairs must have at least one pair; it is empty")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"{name}: Each entry in pred_fn_pairs must be a 2-tuple; found {pair}")
        _check_pair(*pair, name, python_preds)
    return [p for p, _ in pairs], [f for _, f in pairs]


def _check_pair(pred: Any, function: Any, name: str, python_preds: bool) -> None:
    if isinstance(pred, Tensor):
        if pred.dtype.base_dtype is not dtypes.bool:
            raise TypeError(
                f"{name}: pred must be Tensor of type bool: {pred.name} is {pred.dtype.name}"
            )
    elif not python_preds:
        raise TypeError(f"{name}: pred must be a Tensor, got: {pred}")
    elif not isinstance(pred, bool):
        raise TypeError(f"{name}: pred must be a Tensor or bool, got: {pred}")
    if not callable(function):
        raise TypeError(f"{name}: fn for pred {getattr(pred, 'name', pred)} must be callable.")


def _at_most(predicates: Any, n: int, message: str) -> Operation:
    """An Assert that no more than ``n`` of the conditions hold."""
    conditions = join.stack(list(predicates), name="preds_c")
    count = reduction.reduce_sum(nodes.cast(conditions, dtypes.int32), name="num_true_conds")
    fits = comparison.less_equal(count, constant(n, dtypes.int32, name="n_true_conds"))
    names = ", ".join(getattr(p, "name", "?") for p in predicates)
    text = f"{message}: more than {n} conditions ({names}) evaluated as True:"
    return debug.Assert(fits, [text, conditions], summarize=len(predicates))


def _default_action(predicates: Any, actions: Any) -> tuple[_Action, Any, Any]:
    """The last action as the default, which checks that its condition is the one that holds."""
    *others, last = predicates
    *other_actions, action = actions

    def default() -> Any:
        failed = (
            "Implementation error: selected default action #"
            f"{len(others)} was called, but some of other predicates are True: "
        )
        # The message comes before the conditions are joined once more, as in TF.
        none = (
            "Input error: None of conditions evaluated as True:",
            join.stack(list(predicates), name="preds_c"),
        )
        checks = [_at_most(others, 0, failed), debug.Assert(last, none)]
        with control_dependencies(checks):
            return action()

    return default, others, other_actions
