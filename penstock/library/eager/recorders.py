"""Who is told of what runs: tapes, and what looks for shortcuts.

State: of each thread, those that listen now.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.opdef.opdef import OpDef

# Gets ``(op_def, attrs, inputs, outputs)`` of each call.
Recorder = Callable[[OpDef, dict[str, Any], Sequence[Any], Sequence[Any]], None]


class _Recorders(threading.local):
    def __init__(self) -> None:
        self.active: list[Recorder] = []


recorders = _Recorders()


def tell(call: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Tells all that listen of an operation that has run.

    Args:
      call: what it was run by: its ``op_def`` and ``attrs``.
      inputs, outputs: its tensors.
    """
    for recorder in tuple(recorders.active):
        recorder(call.op_def, call.attrs, inputs, outputs)
