"""Processes that ``multiprocessing`` starts anew know of Penstock as their parent does.

One that is forked has its parent's modules.  A spawned one begins with an empty interpreter, and
what it is to do is read from its parent: a line in front of that makes ``tensorflow`` known first.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import penstock
from penstock.tf1 import old_python, restoring
from penstock.tf1.install import install

_ROOT = str(Path(penstock.__file__).parents[1])
# Not empty once `tell` was called: a spawned process that runs the script again calls it again.
_told: list[bool] = []


def tell(version: str, instead: bool, old: bool) -> None:
    """Has processes that are spawned from now on begin as this one did.

    What Python has dropped is put back in those that are spawned after it was put back here.

    Args:
      version: what ``tf.__version__`` is.
      instead: whether Penstock takes the place of a TensorFlow that is installed.
      old: whether old spellings are there.
    """
    if _told:
        return
    _told.append(True)
    first = f"import sys; sys.path.append({_ROOT!r}); from penstock.tf1 import children;"

    def change(spawn: ModuleType) -> None:
        usual = spawn.get_command_line

        def get_command_line(**given: Any) -> list[str]:
            words: list[str] = usual(**given)
            if "-c" in words:
                at = words.index("-c") + 1
                state = (version, instead, old, old_python.is_restored())
                words[at] = f"{first} children.begin{state!r}; {words[at]}"
            return words

        spawn.get_command_line = get_command_line  # type: ignore[attr-defined]

    restoring.Watch({"multiprocessing.spawn": change}).begin()


def begin(version: str, instead: bool, old: bool, restored: bool) -> None:
    """What a spawned process does first; arguments as of ``tell``."""
    install(version, instead, old=old)
    if restored:
        old_python.restore()
    tell(version, instead, old)
