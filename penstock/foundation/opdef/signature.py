"""Signatures of op types, written the way the papers list them.

A signature is one line, ``"values: N * T, axis: Tidx -> output: T"``, and an attr is one line,
``"N: int >= 2"``, ``"T: {float, double}"``, ``"padding: {'SAME', 'VALID'}"``,
``"strides: list(int)"``, ``"transpose_a: bool = False"`` or ``"color: tensor = uint8[255, 0]"``.
Both are parsed once, at import (``parsing``), into the small records below; nothing else looks at
the text again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.foundation.base import dtypes


@dataclass(frozen=True, slots=True)
class ArgDef:
    """One input or output of an op type.

    Exactly one of ``dtype`` (a fixed type), ``type_attr`` (the attr that names its type) and
    ``type_list_attr`` (a heterogeneous list) is set; ``number_attr`` makes a homogeneous list.
    """

    name: str
    dtype: dtypes.DType | None = None
    type_attr: str | None = None
    number_attr: str | None = None
    type_list_attr: str | None = None
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        """Whether this argument stands for a list of tensors."""
        return self.number_attr is not None or self.type_list_attr is not None

    def count(self, attrs: Mapping[str, Any]) -> int:
        """How many tensors this argument of a node with these attrs stands for."""
        if self.number_attr is not None:
            return int(attrs[self.number_attr])
        return 1 if self.type_list_attr is None else len(attrs[self.type_list_attr])

    def __str__(self) -> str:
        kind = self.dtype.name if self.dtype else self.type_attr or f"list({self.type_list_attr})"
        kind = f"Ref({kind})" if self.is_ref else kind
        return (
            f"{self.name}: {self.number_attr} * {kind}"
            if self.number_attr
            else (f"{self.name}: {kind}")
        )


class _Required:
    def __repr__(self) -> str:
        return "<required>"


REQUIRED = _Required()


@dataclass(frozen=True, slots=True)
class AttrDef:
    """One attr of an op type: kind, default (or ``REQUIRED``), allowed values, least value."""

    name: str
    kind: str
    default: Any = REQUIRED
    allowed: frozenset[Any] | None = None
    minimum: int | None = None
