"""State that several nodes share under one name: its kind, and what they must agree on.

Two nodes with the same container and shared name have the same state if they are of the same kind;
states of different kinds never meet.  A node that asks for state which another node made otherwise
(of another capacity, say) is refused when its program is linked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.foundation.base.mismatch import show


@dataclass(frozen=True)
class Request:
    """The node that asks for state.

    Args:
      op_type: its op type.
      node: its name.
      name: the name that the state is shared under.
      attrs: its attrs.
    """

    op_type: str
    node: str
    name: str
    attrs: Mapping[str, Any]


# ``mismatch(first, asked)``: why the state that ``first`` made is not what ``asked`` wants.
Mismatch = Callable[[Request, Request], str | None]


@dataclass(frozen=True, eq=False)
class SharedState:
    """What ``define_op(state=...)`` is given for such state.

    Args:
      kind: which states may meet under a name.
      make: ``make(attrs, name)`` makes the state.
      mismatch: compares two requests; what it says is an InvalidArgumentError.  None: they may
        differ.
      outputs_are_values: whether an output is a value that the kernel makes, and does not stand for
        this state.

    Of ops without a ``shared_name``, all nodes of a session share one state.
    """

    kind: str
    make: Callable[[dict[str, Any], str], Any]
    mismatch: Mismatch | None = None
    outputs_are_values: bool = False

    def __call__(self, attrs: dict[str, Any], name: str) -> Any:
        """Makes the state."""
        return self.make(attrs, name)


def other(what: str, has: Any, wanted: Any, asked: Request, noun: str) -> str | None:
    """The usual message where two requests differ in one thing, or None."""
    if has == wanted:
        return None
    return (
        f"Shared {noun} {asked.name!r} has {what} {has} but requested {what} {_is(what)} {wanted}"
    )


def _is(what: str) -> str:
    return "were" if what.endswith("s") else "was"


def other_types(first: Request, asked: Request, noun: str, lead: str = "") -> str | None:
    """As ``other``, of component types.

    Args:
      first, asked: the requests.
      noun: what is shared: "queue".
      lead: types before those in the attrs.
    """
    has, wanted = (
        ", ".join([*([lead] if lead else []), *(t.name for t in r.attrs["component_types"])])
        for r in (first, asked)
    )
    return other("component types", has, wanted, asked, noun)


def other_shapes(first: Request, asked: Request, noun: str, lead: str = "") -> str | None:
    """As ``other_types``, of component shapes."""
    has, wanted = (
        f"[{', '.join([*([lead] if lead else []), *(show(s.sizes) for s in r.attrs['shapes'])])}]"
        for r in (first, asked)
    )
    return other("component shapes", has, wanted, asked, noun)
