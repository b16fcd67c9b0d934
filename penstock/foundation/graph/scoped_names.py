"""Names of nodes, as they are written in messages, under a name scope and without it.

A control input's name begins with ``^``, that of a colocation group with ``loc:@``.
"""

from __future__ import annotations

import re

from penstock.foundation.graph.scopes import get_default_graph

_MARK = r"([\^]|loc:@|^)"


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A name under a scope.

    >>> prepend_name_scope("^x", "scope/")
    '^scope/x'
    """
    if not import_scope:
        return name
    mark = re.match(_MARK, name)
    start = mark.end() if mark else 0
    return f"{name[:start]}{import_scope.removesuffix('/')}/{name[start:]}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A name without the scope, if it is in it.

    >>> strip_name_scope("loc:@scope/x", "scope")
    'loc:@x'
    """
    if not export_scope:
        return name
    scope = re.escape(export_scope.removesuffix("/"))
    return re.sub(rf"{_MARK}{scope}/+(.*)", r"\1\2", name, count=1)


def get_name_scope() -> str:
    """The name scope of the default graph, without a slash at its end; "" outside of all."""
    return get_default_graph().get_name_scope()
