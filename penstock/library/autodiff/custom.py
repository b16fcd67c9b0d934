"""Gradients that the user writes: ``tf.custom_gradient`` and what is built on it.

The results, the arguments and the variables used go through one ``IdentityN`` whose gradient is
overridden; the results of that node are handed out.  Gradients of the results reach the override,
which calls the user's function and hands what it returns to the arguments and variables; the
results' own inputs get none, so nothing flows back through the function's body.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.collecting import get_collection
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import control_dependencies, get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.gradients import gradients
from penstock.library.autodiff.register import RegisterGradient
from penstock.ops.control import control

_uids = itertools.count()


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: ``f`` also says what its gradient is.

    Args:
      f: a function of tensors that returns ``(result, grad)``: ``result`` is a tensor or a nested
        structure of them; ``grad(*result_gradients)`` returns one gradient for each argument.
        When ``f`` uses resource variables, ``grad`` must take ``variables=`` and return
        ``(argument gradients, variable gradients)``.

    Returns:
      A function of the same arguments that returns ``result``.

    Raises:
      TypeError: when called, if ``f`` uses reference variables, or ``grad`` does not take the
        variables used.
      ValueError: keyword arguments, or a wrong number of gradients.

    Example:
      >>> import penstock as tf
      >>> @tf.custom_gradient
      ... def twice_the_slope(x):
      ...     return tf.identity(x), lambda grad: tf.identity(grad)
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                f"a custom_gradient function takes no keyword arguments; found {sorted(kwargs)}"
            )
        return _call(f, args)

    return decorated


def _call(f: Callable[..., Any], args: Sequence[Any]) -> Any:
    graph = get_default_graph()
    inputs = [convert_to_tensor(x) for x in args]
    if graph.executes:
        return graph.custom_gradient(f, inputs)
    name = f"CustomGradient-{next(_uids)}"
    result, grad_fn = f(*inputs)
    flat = _flatten(result)
    results = [convert_to_tensor(r) for r in flat]
    # TF makes these while it looks for variables; later `Identity` nodes are counted from them.
    for r in results:
        control.identity(r)
    variables = _variables_used(results, inputs)
    takes_variables = _takes_variables(grad_fn)
    if variables and not takes_variables:
        raise TypeError(
            f"{getattr(f, '__name__', f)} uses the variables {[v.name for v in variables]}, so its"
            " gradient function must accept a 'variables' keyword argument"
        )

    def internal_grad(op: Operation, *result_grads: Any) -> list[Any]:
        grads = result_grads[: len(results)]
        variable_grads: list[Any] = []
        if variables:
            input_grads, variable_grads = grad_fn(*grads, variables=variables)
            if len(variable_grads) != len(variables):
                raise ValueError(
                    f"the gradient function returned {len(variable_grads)} variable gradient(s)"
                    f" for {len(variables)} variable(s)"
                )
        else:
            input_grads = grad_fn(*grads)
        given = _flatten(input_grads)
        if len(given) != len(inputs):
            raise ValueError(
                f"the gradient function of {getattr(f, '__name__', f)} returned {len(given)} "
                f"gradient(s) for {len(inputs)} argument(s)"
            )
        return [None] * len(results) + given + list(variable_grads)

    RegisterGradient(name)(internal_grad)
    with get_default_graph().gradient_override_map({"IdentityN": name}):
        passed = control.identity_n([*results, *inputs, *variables])
    return _pack(result, iter(passed))


def _flatten(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _flatten(value[key])]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _flatten(item)]
    return [value]


def _pack(structure: Any, leaves: Any) -> Any:
    if isinstance(structure, dict):
        packed = {key: _pack(structure[key], leaves) for key in sorted(structure)}
        return {key: packed[key] for key in structure}
    if isinstance(structure, list | tuple):
        items = [_pack(item, leaves) for item in structure]
        return type(structure)(*items) if hasattr(structure, "_fields") else type(structure)(items)
    return next(leaves)


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters
    by_keyword = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return by_keyword or "variables" in parameters


def _variables_used(results: Sequence[Tensor], inputs: Sequence[Tensor]) -> list[Any]:
    """The resource variables that ``results`` read on the way from ``inputs``, in graph order."""
    stop = {t.op for t in inputs}
    seen: set[Operation] = set()
    handles: dict[Tensor, None] = {}
    stack = [t.op for t in results]
    while stack:
        op = stack.pop()
        if op in seen or op in stop:
            continue
        seen.add(op)
        for output in op.outputs:
            if output.dtype.is_ref:
                raise TypeError(
                    f"{op.name!r} is a reference variable; functions with a custom gradient may"
                    " only use resource variables (use_resource=True)"
                )
            if output.dtype is dtypes.resource and not op.inputs:
                handles[output] = None
        stack.extend(t.op for t in op.inputs)
    if not handles:
        return []
    known: dict[Tensor, Any] = {}
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES,
                GraphKeys.TRAINABLE_VARIABLES):  # fmt: skip
        for variable in get_collection(key):
            handle = getattr(variable, "handle", None)
            if isinstance(handle, Tensor):
                known[handle] = variable
    given = set(inputs)
    ordered = sorted(handles, key=lambda h: h.op.id)
    return [known[h] for h in ordered if h in known and h not in given]


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` with the gradient of the identity: what comes in from above goes out below.

    Args:
      f: a function of tensors with one result.

    Returns:
      A function with the values of ``f``.
    """

    @custom_gradient
    def passing(*args: Any) -> Any:
        def grad(*grads: Any, variables: Any = None) -> Any:
            below = list(grads) * (len(args) if len(grads) == 1 else 1)
            return (below, [None] * len(variables)) if variables is not None else below

        return f(*args), grad

    return functools.wraps(f)(passing)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, recomputed while gradients are: its inner values need not be kept until then.

    Args:
      f: a function of tensors.

    Returns:
      A function with the values and gradients of ``f``.
    """

    @custom_gradient
    def recomputing(*args: Any) -> Any:
        result = f(*args)

        def grad(*grads: Any, variables: Any = None) -> Any:
            # Not before the gradients have come, or nothing would be saved.
            with control_dependencies([g for g in grads if g is not None]):
                again = [control.identity(x) for x in args]
                recomputed = _flatten(f(*again))
            wanted = [*again, *(variables or ())]
            found = gradients(recomputed, wanted, grad_ys=list(grads))
            if variables is None:
                return found
            return found[: len(again)], found[len(again) :]

        return result, grad

    return functools.wraps(f)(recomputing)
