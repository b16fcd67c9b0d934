"""Has ``import tensorflow`` give Penstock, in this process.

State: the module that stands for TensorFlow, and whether it was installed.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from typing import Any, NamedTuple

import penstock
from penstock.foundation.base.missing import close_to
from penstock.foundation.base.other_names import also_known_as
from penstock.tf1.front import NAME, VERSION, Front


class Done(NamedTuple):
    """What ``install`` did."""

    front: Front | None
    said: str


def found_tensorflow() -> str | None:
    """Where another TensorFlow is that programs would import, or None."""
    loaded = sys.modules.get(NAME)
    if loaded is not None:
        return None if isinstance(loaded, Front) else str(getattr(loaded, "__file__", loaded))
    spec = PathFinder.find_spec(NAME)
    return None if spec is None else spec.origin


def install(version: str = VERSION, instead: bool = False, old: bool = True) -> Done:
    """Has ``tensorflow``, and all modules below it, be Penstock's.

    Args:
      version: what ``tf.__version__`` is to be.
      instead: whether it takes the place of a TensorFlow that is installed.
      old: whether names and orders of arguments of older versions are there, too.

    Returns:
      the module, or None where an installed TensorFlow was left in its place; and a line that says
      what was done.

    Raises:
      ImportError: if the other TensorFlow was imported already.
    """
    loaded, other = sys.modules.get(NAME), found_tensorflow()
    if isinstance(loaded, Front):
        return Done(loaded, f"{NAME!r} is Penstock already, as TensorFlow {loaded.__version__}")
    if loaded is not None and instead:
        raise ImportError(f"{NAME!r} was imported already, from {other}: Penstock comes too late")
    if other is not None and not instead:
        return Done(None, f"{NAME!r} stays the installed one, {other}")
    front = Front(version, old)
    also_known_as(front, NAME, _absent)
    text = f"{NAME!r} is Penstock {penstock.__version__}, as TensorFlow {version}"
    return Done(front, f"{text}, in place of {other}" if other else text)


def _absent(fullname: str) -> str:
    """What is said of a module that Penstock does not have."""
    found: Any = sys.modules[NAME]
    reached = NAME
    for part in fullname.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            near = close_to(part, dir(found))
            hint = f"; the nearest names in {reached} are {', '.join(near)}" if near else ""
            break
        reached = f"{reached}.{part}"
    else:
        hint = f"; {reached} is there, but is no module"
    return (
        f"No module named {fullname!r}{hint};"
        " docs/running-programs.md says which modules there are and what is absent"
    )
