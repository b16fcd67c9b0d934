"""``import penstock.compat.v1 as tf``: this name is ``penstock`` itself.

So are the modules below it: ``penstock.compat.v1.nn`` is ``penstock.nn``, not a second copy of it.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import penstock

if TYPE_CHECKING:
    from penstock import *  # noqa: F403


def _name(module: ModuleType, name: str) -> None:
    sys.modules[name] = module
    # Not by `getattr`: what is loaded when first used stays unloaded.
    for each in vars(module).get("__all__", ()):
        inner = vars(module).get(each)
        own = isinstance(inner, ModuleType) and inner.__name__.startswith("penstock.")
        if own and isinstance(inner, ModuleType):
            _name(inner, f"{name}.{each}")


_name(penstock, __name__)
