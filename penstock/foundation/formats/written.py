"""Who is told that a checkpoint was written: what shows its values keeps up with them.

State: the functions that are called, by the folder of the checkpoints that they want to hear of.
"""

from __future__ import annotations

import os
from collections.abc import Callable

_TOLD: dict[str, Callable[[str], None]] = {}


def listen(folder: str, function: Callable[[str], None]) -> None:
    """Has a function called with the path of each checkpoint that is written to a folder.

    Args:
      folder: where the checkpoints lie.
      function: takes the place of an earlier one of the same folder.
    """
    _TOLD[os.path.abspath(folder)] = function


def tell(path: str) -> None:
    """Says that a checkpoint was written."""
    if _TOLD:
        function = _TOLD.get(os.path.dirname(os.path.abspath(path)))
        if function is not None:
            function(path)
