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
