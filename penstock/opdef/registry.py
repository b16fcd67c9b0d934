"""Finding op definitions and gradient functions by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.base.registry import Registry

if TYPE_CHECKING:
    from penstock.opdef.opdef import OpDef

OPS: Registry[OpDef] = Registry("op type")
GRADIENTS: Registry[Callable[..., Any] | None] = Registry("gradient function")


def lookup(op_type: str) -> OpDef:
    """The definition of ``op_type``; LookupError names the nearest ones."""
    return OPS[op_type]


def all_ops() -> dict[str, OpDef]:
    """Every op type; loads the families, which stand above this room."""
    import_module("penstock.ops")
    return dict(OPS.items())
