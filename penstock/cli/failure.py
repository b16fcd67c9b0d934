"""What a user can put right, as commands raise it."""

from __future__ import annotations


class Failure(Exception):
    """What a user can put right; shown as one line.

    Args:
      message: what was asked, what was found, what is allowed.
      code: the command's exit status: 1 when the work failed, 2 when it was asked wrongly.
    """

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code
