"""How a program ends, for those who must know when its last lines run."""

from __future__ import annotations

import sys


def ends_with(end: SystemExit) -> SystemExit:
    """Keeps a bad exit status where the interpreter keeps the error that ended the main thread.

    Functions of ``atexit`` are told no status; a server says goodbye to its cluster there, if the
    program ended well.

    Args:
      end: about to end the program.

    Returns:
      It.
    """
    if end.code:
        sys.last_value = end
    return end
