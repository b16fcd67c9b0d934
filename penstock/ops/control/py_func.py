"""Python functions as ops: PyFunc and PyFuncStateless.

A node names its function by a token; functions live as long as the graph that has nodes of them.

State: the table from tokens to functions, of the process.
"""

from __future__ import annotations

import itertools
import secrets
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from penstock.engine.resources import ending, python_workers
from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.opdef import define_op
from penstock.ops.state.save import as_array

# A token that comes from another process must not name a function of this one.
_numbers = itertools.count(secrets.randbits(40) << 20)
_functions: weakref.WeakValueDictionary[str, _Registered] = weakref.WeakValueDictionary()
_KEPT = "py_func"
_HERE = "_runs_here"


class _Registered:
    __slots__ = ("function", "__weakref__")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


def _argument(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value[()] if value.ndim == 0 else value
    array = as_array(value)
    return array[()] if array.ndim == 0 else array


def _result(value: Any, wanted: Any, token: str, index: int) -> Any:
    if wanted is object:
        return _strings(value)
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        made = value.clone()
    else:
        array = np.asarray(value)
        if array.dtype == object or array.dtype.kind in "SU":
            raise errors.invalid(
                f"{token} returns a value of type {array.dtype}; expected {wanted}"
            )
        if str(array.dtype) == "bfloat16":
            made = torch.from_numpy(np.array(array).view(np.int16)).view(torch.bfloat16)
        else:
            made = torch.from_numpy(np.array(array))
    if made.dtype is not wanted:
        name, asked = (str(t).removeprefix("torch.") for t in (made.dtype, wanted))
        raise errors.invalid(f"{index}-th value returned by {token} is {name}, but expects {asked}")
    return made


def _strings(value: Any) -> np.ndarray:
    array = np.asarray(value)
    made = np.empty(array.size, object)
    for index, item in enumerate(array.ravel().tolist()):
        if isinstance(item, str):
            item = item.encode()
        if not isinstance(item, bytes):
            raise errors.UnimplementedError(
                None, None, f"Unsupported object type {type(item).__name__}"
            )
        made[index] = item
    return made.reshape(array.shape)


_CLASSES: list[tuple[type[Exception], type[errors.OpError]]] = [
    (StopIteration, errors.OutOfRangeError),
    (TypeError, errors.InvalidArgumentError),
    (ValueError, errors.InvalidArgumentError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
]


def here(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function that runs in this process even where there are worker processes."""
    setattr(function, _HERE, True)
    return function


def _result_of(function: Callable[..., Any], args: list[Any]) -> Any:
    workers = python_workers.current()
    try:
        if workers is None or hasattr(function, _HERE):
            return function(*args)
        return workers.call(function, *args)
    finally:
        ending.stay()


ending.calls_users_code(_result_of)


def iterating(function: Callable[..., Any], *args: Any) -> Iterator[Any]:
    """Iterates over what a function returns: here, or in a worker process if there are any."""
    workers = python_workers.current()
    if workers is None or hasattr(function, _HERE):
        return iter(function(*args))
    return workers.iterate(function, *args)


def _as_here(error: python_workers.Raised) -> errors.OpError:
    """The error of a function that raised in a worker process."""
    if error.code is not None:
        kind: Any = errors.exception_type_from_error_code(error.code)
    else:
        found = (k for c, k in _CLASSES if c.__name__ in error.names)
        kind = next(found, errors.UnknownError)
    return kind(None, None, str(error))


def _call(input: list[Any], token: str, Tout: list[Any]) -> list[Any]:
    found = _functions.get(token)
    if found is None:
        raise errors.invalid(
            f"the function {token!r} is not known in this process: a function of"
            " py_func can be called only where it was made, so its node must be placed on a task of"
            " that process"
        )
    try:
        # What a step runs in, inference mode, is not for the function's own torch calls.
        with torch.inference_mode(False):
            given = _result_of(found.function, [_argument(v) for v in input])
    except errors.OpError:
        raise
    except python_workers.Raised as error:
        raise _as_here(error) from None
    except Exception as error:
        kind: Any = next((k for c, k in _CLASSES if isinstance(error, c)), errors.UnknownError)
        text = "".join(traceback.format_exception(error)) if kind is errors.UnknownError else ""
        said = f"{type(error).__name__}: {error}"
        raise kind(None, None, f"{said}\n{text}".strip()) from error
    if given is None:
        values = []
    elif isinstance(given, list | tuple):
        values = list(given)
    else:
        values = [given]
    if len(values) != len(Tout):
        counts = f"{len(values)} values, but expects to see {len(Tout)} values."
        raise errors.invalid(f"{token} returns {counts}")
    return [_result(v, t, token, i) for i, (v, t) in enumerate(zip(values, Tout))]


def _unknown(ctx: Any) -> list[None]:
    return [None] * len(ctx.attr("Tout"))


for _name, _stateful in (("PyFunc", True), ("PyFuncStateless", False)):
    define_op(
        _name,
        "input: list(Tin) -> output: list(Tout)",
        attrs=["token: string", "Tin: list(type) >= 0", "Tout: list(type) >= 0"],
        shape=_unknown,
        kernel=_call,
        stateful=_stateful,
        effect=_stateful,
        no_gradient="nothing is known about a Python function",
    )


def _differentiated(op: Any, *grads: Any) -> list[Any]:
    registered = _functions[op.attrs["token"]]
    types = [tensor.dtype.base_dtype for tensor in op.inputs]
    return called(
        registered.function.backward, [*op.inputs, *grads], types, name=None, op_type="PyFunc"
    )


define_op(
    "EagerPyFunc",
    "input: list(Tin) -> output: list(Tout)",
    attrs=["token: string", "is_async: bool = false", "Tin: list(type)", "Tout: list(type)"],
    shape=_unknown,
    kernel=lambda input, token, is_async, Tout: _call(input, token, Tout),
    stateful=True,
    effect=True,
    gradient=_differentiated,
)


def called(func: Any, inp: Any, Tout: Any, name: str | None, op_type: str) -> Any:
    """A node of ``op_type`` that calls a function of arrays; its outputs, or the node if none.

    Args:
      func, inp, Tout: as for ``py_func``; for EagerPyFunc ``func.backward`` takes the inputs and
        the outputs' gradients and returns the inputs' gradients.
      name: name of the node; None for that of the type.
      op_type: PyFunc, PyFuncStateless or EagerPyFunc.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    graph = get_default_graph()
    registered = _Registered(func)
    token = f"pyfunc_{next(_numbers)}"
    _functions[token] = registered
    graph.attached.setdefault(_KEPT, []).append(registered)
    several = isinstance(Tout, list | tuple)
    types = [dtypes.as_dtype(t) for t in (Tout if several else [Tout])]
    made = make(op_type, list(inp), name=name or op_type, token=token, Tout=types)
    return made if several else made[0]


def py_func(func: Any, inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:
    """Calls a Python function on NumPy arrays as an op.

    Args:
      func: takes one array (or NumPy scalar) an input and returns one value an output.
      inp: the inputs, a list.
      Tout: the dtype of the output, or a list of dtypes of several.
      stateful: False: the result depends on the inputs alone.

    Returns:
      A tensor of unknown shape; a list where ``Tout`` is one; the Operation, to be run for its
      effect, where that is empty and the function stateful.

    Raises:
      tf.errors.InvalidArgumentError: when it runs, if the function returns other types.

    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     session.run(tf.py_func(lambda x: x + 1, [np.float32(2)], tf.float32))
    np.float32(3.0)
    """
    return called(func, inp, Tout, name, "PyFunc" if stateful else "PyFuncStateless")


def numpy_function(func: Any, inp: Any, Tout: Any, name: str | None = None) -> Any:
    """``py_func`` with ``stateful=True``; the arguments are its."""
    return called(func, inp, Tout, name, "PyFunc")
