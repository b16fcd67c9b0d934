"""What one run of the dataflow executor is made of: frames, their rounds, and inputs that wait.

State: all of it, and of one run only.
"""

from __future__ import annotations

from typing import Any

from penstock.engine.runtime.dataflow_graph import Loop, Node
from penstock.foundation.graph.operation import Operation


class Dead:
    """What has no value: it is on the side of a Switch that was not taken."""

    __slots__ = ("switch", "side")

    def __init__(self, switch: Operation, side: int) -> None:
        self.switch = switch
        self.side = side


class Waiting:
    """The inputs of a node that have come in one round.

    Of a ``Merge``, ``values`` is the live input with its position, ``dead_count`` says how many are
    dead.
    """

    __slots__ = ("left", "values", "dead", "dead_count", "live")

    def __init__(self, left: int, values: list[Any]) -> None:
        self.left = left
        self.values = values
        self.dead: Dead | None = None
        self.dead_count = 0
        self.live = False


class Round:
    """One round of a frame; ``busy`` counts what is ready or runs in it, inner frames too."""

    __slots__ = ("frame", "number", "path", "waiting", "started", "children", "busy")

    def __init__(self, frame: Frame, number: int) -> None:
        self.frame = frame
        self.number = number
        around = frame.around
        self.path: tuple[int, ...] = (*around.path, number) if around else (number,)
        self.waiting: dict[Node, Waiting] = {}
        self.started: set[Node] = set()
        self.children: dict[Loop, Frame] = {}
        self.busy = 0


class Frame:
    """One run of a loop, or (``loop`` is None) the step itself."""

    __slots__ = ("loop", "around", "rounds", "last", "pending", "constants", "dead_exits")

    def __init__(self, loop: Loop | None, around: Round | None) -> None:
        self.loop = loop
        self.around = around
        self.last = 0
        # Enter nodes that have not come yet.
        self.pending = 0 if loop is None else loop.enters
        self.constants: list[tuple[Node, Any]] = []
        self.dead_exits: list[tuple[Node, Dead]] = []
        self.rounds = {0: Round(self, 0)}
