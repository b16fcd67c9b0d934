"""Names of nodes moved into a name scope and out of it.

The markers in front stay in front: ``^`` of control inputs, ``loc:@`` of colocation groups.
"""

from __future__ import annotations

import re

UNBOUND_PREFIX = "$unbound_inputs_"
_MARKED = re.compile(r"(\^|loc:@|)(.*)", re.DOTALL)


def with_scope(name: str, scope: str | None) -> str:
    """``name`` under ``scope``.

    >>> with_scope("^a/b", "s"), with_scope("x:0", "")
    ('^s/a/b', 'x:0')
    """
    if not scope:
        return name
    marker, bare = _split(name)
    return f"{marker}{scope.rstrip('/')}/{bare}"


def without_scope(name: str, scope: str | None) -> str:
    """``name`` without a leading ``scope/``.

    >>> without_scope("loc:@s/a", "s"), without_scope("t/a", "s")
    ('loc:@a', 't/a')
    """
    if not scope:
        return name
    marker, bare = _split(name)
    return marker + bare.removeprefix(scope.rstrip("/") + "/")


def inside(name: str, scope: str | None) -> bool:
    """Whether a node of that name belongs to an export of ``scope``."""
    return not scope or _split(name)[1].startswith(scope)


def unbound(name: str) -> str:
    """The name that an input from outside the exported scope gets."""
    marker, bare = _split(name)
    return f"{marker}{UNBOUND_PREFIX}{bare}"


def _split(name: str) -> tuple[str, str]:
    match = _MARKED.match(name)
    assert match is not None  # the pattern matches every string
    return match.group(1), match.group(2)
