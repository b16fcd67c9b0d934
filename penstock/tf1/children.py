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


def tell(version: str, instead: bool, restored: bool) -> None:
    """Has processes that are spawned from now on begin as this one did.

    Args:
      version: what ``tf.__version__`` is.
      instead: whether Penstock takes the place of a TensorFlow that is installed.
      restored: whether old spellings and old Python are put back.
    """
    first = f"import sys; sys.path.append({_ROOT!r}); from penstock.tf1 import children;"
    first += f" children.begin({version!r}, {instead!r}, {restored!r})"

    def change(spawn: ModuleType) -> None:
        usual = spawn.get_command_line

        def get_command_line(**given: Any) -> list[str]:
            words: list[str] = usual(**given)
            if "-c" in words:
                at = words.index("-c") + 1
                words[at] = f"{first}; {words[at]}"
            return words

        spawn.get_command_line = get_command_line  # type: ignore[attr-defined]

    restoring.Watch({"multiprocessing.spawn": change}).begin()


def begin(version: str, instead: bool, restored: bool) -> None:
    """What a spawned process does first; arguments as of ``tell``."""
    install(version, instead, old=restored)
    if restored:
        old_python.restore()
    tell(version, instead, restored)
