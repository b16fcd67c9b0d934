"""The names that nodes and scopes may have: TensorFlow's patterns, held where names come in.

A name may come from anybody: a user's program, a file, a client, a peer.  ``Graph.register``, by
which every node of every graph goes, holds it to ``is_node_name(name, internal=True)``; what is
made by a user or imported may not start with ``_`` besides, since such names are the compiler's.
"""

from __future__ import annotations

import re

_NODE = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*\Z")
_INTERNAL = re.compile(r"[A-Za-z0-9._][A-Za-z0-9_.\\/>-]*\Z")
# Inside another scope a scope may begin with anything that a name may have.
_SCOPE = re.compile(r"[A-Za-z0-9_.\\/>-]*\Z")


def is_node_name(name: str, internal: bool = False) -> bool:
    """Whether a node may have the name; an ``internal`` one may begin with ``_``."""
    return (_INTERNAL if internal else _NODE).match(name) is not None


def check_node_name(name: str, internal: bool = False) -> None:
    """Refuses what no node may be called.

    Raises:
      ValueError: the name is not valid.
    """
    if not is_node_name(name, internal):
        raise ValueError(f"{name!r} is not a valid node name")


def check_imported_name(name: str, internal: bool = False) -> None:
    """Refuses a name in a message: of a node, or of a function's argument, which is one.

    Raises:
      ValueError: the name is not valid.
    """
    if not is_node_name(name, internal):
        raise ValueError(f"Node {name!r}: Node name contains invalid characters")


def check_scope_name(name: str, nested: bool) -> None:
    """Refuses what no name scope may be called.

    Args:
      name: the scope's name.
      nested: whether it is inside another.

    Raises:
      ValueError: the name is not valid.
    """
    if not (_SCOPE if nested else _NODE).match(name):
        raise ValueError(f"{name!r} is not a valid scope name")
