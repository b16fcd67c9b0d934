"""What op types are for: the values of the traits ``control`` and ``role``.

Rooms ask these, never whether an op type is one of a list.  An op and its twin for references
(``RefSwitch``) are of the same kind.  Of a node in a message, whose type may be foreign,
``registry.control_of`` and ``registry.role_of`` tell.
"""

from __future__ import annotations

from typing import Literal

Control = Literal[
    # The primitives of conditionals and loops, and what waits for nodes dead or alive.
    "switch", "merge", "enter", "exit", "next", "test", "trigger",
    # What runs the functions in its attrs.
    "if", "case", "while", "for", "call", "remote_call", "gradient",
]  # fmt: skip
PRIMITIVES = frozenset({"switch", "merge", "enter", "exit", "next", "test"})
CONSTRUCTS = frozenset({"if", "case", "while", "for"})
CALLS = CONSTRUCTS | {"call", "remote_call", "gradient"}

Role = Literal[
    # Values that are there from the start: written down, fed, or to be fed (none, or a default).
    "constant", "feed", "placeholder", "default",
    # What hands its input on, and what looks at its input's shape alone.
    "identity", "shape",
    # A variable, what reads it or rows of it, and what goes by whether it has a value.
    "variable", "read", "read_rows", "initialized",
    # A value that stays with the session: what makes its handle, and what takes that.
    "session_handle", "session_value",
    # Of a step: a conditional, a loop, the value of a branch not taken, the check that a branch was
    # taken, both ends of a message between tasks, and what all tasks do together.
    "conditional", "loop", "dead", "taken", "send", "recv", "collective",
]  # fmt: skip
