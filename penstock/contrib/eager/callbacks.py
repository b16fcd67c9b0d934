"""Functions that are called after each eager operation, among them those that find NaN and inf.

State: of a thread, the callbacks; what ``seterr`` was last told.
"""

from __future__ import annotations

import enum
import functools
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from penstock.foundation.graph.scopes import get_default_graph
from penstock.library.eager.recorders import recorders

_LOG = logging.getLogger("penstock")
Callback = Callable[..., Any]


class ExecutionCallback(enum.Enum):
    """What is done where a value is infinite or no number."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """An operation gave a value that is infinite or no number.

    Args:
      op_type, op_name: of the operation.
      output_index, num_outputs: which of how many outputs it is.
      value: the output, an array.
    """

    def __init__(
        self, op_type: str, op_name: str | None, output_index: int, num_outputs: int, value: Any
    ) -> None:
        infinite, no_number = int(np.isinf(value).sum()), int(np.isnan(value).sum())
        found = [
            f"{count} {what}(s)" for count, what in ((infinite, "inf"), (no_number, "nan")) if count
        ]
        super().__init__(
            f"Output {output_index + 1} of {num_outputs} of TFE operation {op_type} (name:"
            f" {op_name!r}) contains {' and '.join(found)} out of a total of {np.size(value)}"
            f" element(s). Tensor value: {value}"
        )
        self.value = value


class _State(threading.local):
    def __init__(self) -> None:
        self.added: list[Any] = []
        self.told = ExecutionCallback.IGNORE
        self.of_seterr: Any = None


_state = _State()


def add_execution_callback(callback: Any) -> None:
    """Has a function called after each operation that runs in this thread.

    Args:
      callback: takes ``(op_type, inputs, attrs, outputs, op_name)``; an ``ExecutionCallback`` or
        its value stands for what ``inf_nan_callback`` does.

    Raises:
      RuntimeError: operations do not run as they are called.

    Example:
      >>> from penstock.contrib import eager as tfe
      >>> tfe.add_execution_callback.__name__
      'add_execution_callback'
    """
    _check_eager()
    if isinstance(callback, ExecutionCallback):
        callback = functools.partial(inf_nan_callback, action=callback)
    if not callable(callback):
        raise TypeError(
            f"expected a function for post execution callback, got {type(callback).__name__}"
        )
    _add(callback)


def _check_eager() -> None:
    if not get_default_graph().executes:
        raise RuntimeError("Execution callbacks are for eager execution, which is not enabled.")


def _add(callback: Callback) -> Any:
    def recorder(op_def: Any, attrs: dict[str, Any], inputs: Any, outputs: Any) -> None:
        flat = tuple(part for pair in attrs.items() for part in pair)
        callback(op_def.name, list(inputs), flat, list(outputs), None)

    _state.added.append(recorder)
    recorders.active.append(recorder)
    return recorder


def _remove(recorder: Any) -> None:
    for held in (_state.added, recorders.active):
        held[:] = [each for each in held if each is not recorder]


def clear_execution_callbacks() -> None:
    """Forgets the functions that ``add_execution_callback`` was given in this thread."""
    for recorder in list(_state.added):
        _remove(recorder)
    _state.of_seterr = None
    _state.told = ExecutionCallback.IGNORE


def inf_nan_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Any,
    outputs: Sequence[Any],
    op_name: str | None,
    check_inf: bool = True,
    check_nan: bool = True,
    action: Any = ExecutionCallback.RAISE,
) -> None:
    """Looks for infinite values and NaN in the outputs of an operation.

    Args:
      op_type, inputs, attrs, outputs, op_name: the operation.
      check_inf, check_nan: what is looked for.
      action: what is done then, an ``ExecutionCallback`` or its value.

    Raises:
      InfOrNanError: there is one, and ``action`` is ``RAISE``.
      ValueError: another action.
    """
    action = ExecutionCallback(action)
    for index, output in enumerate(outputs or ()):
        if not (output.dtype.is_floating or output.dtype.is_complex):
            continue
        value = output.numpy()
        bad = (check_inf and np.isinf(value).any()) or (check_nan and np.isnan(value).any())
        if not bad:
            continue
        error = InfOrNanError(op_type, op_name, index, len(outputs), value)
        if action is ExecutionCallback.RAISE:
            raise error
        if action is ExecutionCallback.WARN:
            _LOG.warning("%s", error)
        elif action is ExecutionCallback.PRINT:
            print(f"Warning: {error}")


def inf_callback(
    op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: str | None,
    action: Any = ExecutionCallback.RAISE,
) -> None:  # fmt: skip
    """As ``inf_nan_callback``, of infinite values alone."""
    inf_nan_callback(
        op_type, inputs, attrs, outputs, op_name, check_inf=True, check_nan=False, action=action
    )


def nan_callback(
    op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: str | None,
    action: Any = ExecutionCallback.RAISE,
) -> None:  # fmt: skip
    """As ``inf_nan_callback``, of NaN alone."""
    inf_nan_callback(
        op_type, inputs, attrs, outputs, op_name, check_inf=False, check_nan=True, action=action
    )


def seterr(inf_or_nan: Any = None) -> dict[str, Any]:
    """Says what is done where an operation gives a value that is infinite or no number.

    Args:
      inf_or_nan: an ``ExecutionCallback`` or its value; None leaves it as it is.

    Returns:
      ``{"inf_or_nan": ...}``: what was done before.

    Raises:
      ValueError: there is no such action.
    """
    before = {"inf_or_nan": _state.told}
    if inf_or_nan is None:
        return before
    told = ExecutionCallback(inf_or_nan)
    _check_eager()
    if _state.of_seterr is not None:
        _remove(_state.of_seterr)
        _state.of_seterr = None
    _state.told = told
    if told is not ExecutionCallback.IGNORE:
        _state.of_seterr = _add(functools.partial(inf_nan_callback, action=told))
    return before


@contextmanager
def errstate(inf_or_nan: Any = None) -> Iterator[None]:
    """As ``seterr``, in a ``with`` block."""
    before = seterr(inf_or_nan)
    try:
        yield
    finally:
        seterr(**before)
