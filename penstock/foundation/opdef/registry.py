"""Finding op definitions and gradient functions by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.foundation.base.registry import Registry

if TYPE_CHECKING:
    from penstock.foundation.opdef.kinds import Control, Role
    from penstock.foundation.opdef.opdef import OpDef

OPS: Registry[OpDef] = Registry("op type")
GRADIENTS: Registry[Callable[..., Any] | None] = Registry("gradient function")


def lookup(op_type: str) -> OpDef:
    """The definition of ``op_type``; LookupError names the nearest ones."""
    return OPS[op_type]


def control_of(op_type: str) -> Control | None:
    """What nodes of a type do to the flow of control: of a message's, whose type may be foreign."""
    return OPS[op_type].control if op_type in OPS else None


def role_of(op_type: str) -> Role | None:
    """What nodes of a type are for: of a message's, whose type may be foreign."""
    return OPS[op_type].role if op_type in OPS else None


def all_ops() -> dict[str, OpDef]:
    """Every op type; loads the families, which stand above this room."""
    import_module("penstock.ops")
    return dict(OPS.items())
