"""How a call ends badly: gRPC's codes, and the error that carries one."""

from __future__ import annotations

DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL = 4, 8, 12, 13


class Failed(Exception):
    """A call ends with an error.

    Args:
      code: gRPC's number of it.
      text: for the caller.
      metadata: sent with it.
    """

    def __init__(self, code: int, text: str, metadata: tuple[tuple[str, bytes], ...] = ()) -> None:
        super().__init__(text)
        self.code, self.text, self.metadata = code, text, metadata
