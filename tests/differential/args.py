"""What the rows of ``calls/`` are written with: a public function and good arguments by kind.

    call("reduce_sum", R(2, 3), A(1), O(False, True))

says that ``reduce_sum`` takes a tensor of real numbers (here 2x3), an axis (here 1), and an option
(False here, True as well).  ``generator.py`` makes many calls of one row: a kind says what an
argument can be in place of what stands here.
"""

from __future__ import annotations

import dataclasses
from typing import Any

# Kinds whose dtypes and shapes go together: what an op computes with.
OPERANDS = ("real", "positive", "integer", "boolean", "complex", "text")
# Integers that say where or how many.
WHERES = ("index", "axis", "size")


@dataclasses.dataclass(frozen=True)
class Arg:
    """One argument: its kind and what a good one looks like (see the functions below)."""

    kind: str
    shape: tuple[int, ...] = ()
    value: Any = None
    choices: tuple[Any, ...] = ()
    parts: tuple[Arg, ...] = ()
    dtype: str = ""
    # Whether it is given as a tensor of known rank only.
    ranked: bool = False


def R(*shape: int, dtype: str = "float32") -> Arg:
    """Real numbers, some negative."""
    return Arg("real", shape, dtype=dtype)


def P(*shape: int) -> Arg:
    """Real numbers between 0 and 1."""
    return Arg("positive", shape, dtype="float32")


def Z(*shape: int, dtype: str = "int32") -> Arg:
    """Small integers that are computed with."""
    return Arg("integer", shape, dtype=dtype)


def B(*shape: int) -> Arg:
    """Booleans."""
    return Arg("boolean", shape, dtype="bool")


def C(*shape: int) -> Arg:
    """Complex numbers."""
    return Arg("complex", shape, dtype="complex64")


def T(value: Any) -> Arg:
    """Strings: these."""
    return Arg("text", value=value, dtype="string")


def X(value: Any, dtype: str = "float32") -> Arg:
    """Numbers: these (a matrix that has an inverse, say)."""
    return Arg("real", value=value, dtype=dtype)


def I(value: Any, dtype: str = "int32") -> Arg:  # noqa: E743
    """A tensor of integers that say where: these."""
    return Arg("index", value=value, dtype=dtype)


def A(value: Any) -> Arg:
    """An axis, or axes."""
    return Arg("axis", value=value, dtype="int32")


def S(value: Any, dtype: str = "int32") -> Arg:
    """A number or numbers of elements, pixels, repetitions."""
    return Arg("size", value=value, dtype=dtype)


def K(arg: Arg) -> Arg:
    """A tensor of known rank, where TensorFlow's Python fails for all others."""
    return dataclasses.replace(arg, ranked=True)


def V(*shape: int) -> Arg:
    """A variable of real numbers."""
    return Arg("variable", shape, dtype="float32")


def SP(*shape: int, dtype: str = "float32") -> Arg:
    """A SparseTensor of that dense shape, half full."""
    return Arg("sparse", shape, dtype=dtype)


def IDS(*shape: int, top: int, dtype: str) -> Arg:
    """A SparseTensor of numbers of ``top`` things, full."""
    return Arg("sparse", shape, value=top, dtype=dtype)


def L(*parts: Arg) -> Arg:
    """A list of arguments."""
    return Arg("list", parts=parts)


def LT(*parts: Arg) -> Arg:
    """A tuple of arguments."""
    return Arg("list", parts=parts, value="tuple")


def O(*choices: Any) -> Arg:  # noqa: E743
    """A Python value; the first is the usual one, and the last may be wrong."""
    return Arg("option", choices=choices)


def D(*choices: str) -> Arg:
    """A dtype."""
    return Arg("dtype", choices=choices)


def F(name: str) -> Arg:
    """A function of ``runner.FUNCTIONS``."""
    return Arg("function", value=name)


def DS(part: Arg) -> Arg:
    """A Dataset of the slices of a tensor."""
    return Arg("dataset", parts=(part,))


def M(part: Arg) -> Arg:
    """An argument that may be left out, and mostly is, where it stands by keyword."""
    return Arg("maybe", parts=(part,))


@dataclasses.dataclass(frozen=True)
class Call:
    """A row.

    ``name``: under ``tf``, or ``operator:add`` for Python's; ``values``: False where the function
    draws random numbers, so that only dtypes, shapes and errors can be compared.
    """

    name: str
    args: tuple[Arg, ...]
    kwargs: dict[str, Arg]
    values: bool = True


def call(name: str, *args: Arg, **kwargs: Arg) -> Call:
    """A row whose values are compared."""
    return Call(name, args, kwargs)


def drawn(name: str, *args: Arg, **kwargs: Arg) -> Call:
    """A row of a function that draws random numbers."""
    return Call(name, args, kwargs, values=False)


def each(names: str, *args: Arg, **kwargs: Arg) -> list[Call]:
    """Rows of functions that take alike arguments; the names are separated by blanks."""
    return [Call(name, args, kwargs) for name in names.split()]
