"""Makes calls of a row: ``cases(row, seed, count)``.

Case 0 of seed 0 is the row itself.  Every other differs from it in up to three ways (dtypes, ranks,
sizes, sizes of 0, values, axes in and out of range, options, None in place of an argument), and in
how its tensors are given: Python values, NumPy arrays, constants, and placeholders of known, partly
known and unknown shape.

A case is plain data (see ``runner.py``), equal in every process for the same row, seed and number.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.conformance.jobs import pack
from tests.differential.args import OPERANDS, WHERES, Arg, Call

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int32", "int64", "uint8", "int8", "int16", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")
# Per kind of operand: groups of dtypes, and how often each is drawn.
GROUPS = ((FLOATS, 5), (INTEGERS, 4), (COMPLEX, 1), (("bool",), 1), (("string",), 1))
HOWS = ("const", "np", "py", "feed", "feed", "feed")
Random = np.random.Generator


class Leaf:
    """An argument, or a part of one, that can be changed: ``kind``, and what it holds now.

    ``array`` and ``dtype`` of tensors (bfloat16 as float32), ``value`` of all others, ``parts`` of
    lists, sparse tensors and datasets.  ``how`` and ``static`` say how a tensor is given.
    """

    def __init__(self, arg: Arg, random: Random) -> None:
        self.arg, self.kind, self.dtype = arg, arg.kind, arg.dtype
        self.how, self.static = "const", None
        # Whether ``value`` stays, which no tensor could hold.
        self.fixed = False
        self.array = np.zeros(())
        self.value: Any = None
        self.parts: list[Leaf] = []
        if arg.kind in OPERANDS or arg.kind == "variable":
            self.array = _operand(arg, random)
        elif arg.kind in WHERES:
            # Axes and sizes are Python values, as in most programs.
            self.how, self.value = "const" if arg.kind == "index" else "value", arg.value
            self.array = np.array(arg.value, arg.dtype)
        elif arg.kind == "sparse":
            self.parts = [Leaf(part, random) for part in _sparse(arg, random)]
        else:
            self.value = arg.choices[0] if arg.choices else arg.value
            self.parts = [Leaf(part, random) for part in arg.parts]

    def spec(self) -> dict[str, Any]:
        """Plain data for ``runner.py``."""
        if self.how == "none":
            return {"k": "py", "v": None}
        if self.kind in (*OPERANDS, *WHERES):
            if self.how == "value":
                return {"k": "py", "v": self.value}
            if self.how == "py":
                return {"k": "py", "v": self.array.tolist()}
            array = {"dtype": self.dtype, "v": pack(self.array)}
            return {"k": self.how, "static": self.static, **array}
        if self.kind == "variable":
            return {"k": "variable", "dtype": self.dtype, "v": pack(self.array), "how": self.how}
        if self.kind in ("sparse", "list", "dataset", "maybe"):
            kind = "tuple" if self.value == "tuple" else self.kind
            return {"k": kind, "parts": [part.spec() for part in self.parts]}
        return {"k": {"option": "py"}.get(self.kind, self.kind), "v": self.value}


def _operand(arg: Arg, random: Random) -> np.ndarray:
    """Numbers that every dtype has: eighths between -2 and 2."""
    if arg.value is not None:
        text = arg.dtype == "string"
        return np.array(arg.value, object if text else np.dtype(arg.dtype))
    if arg.kind == "boolean":
        return np.asarray(random.random(arg.shape) < 0.5)
    if arg.kind == "integer":
        return np.asarray(random.integers(-4, 6, arg.shape)).astype(arg.dtype)
    low, high = (1, 8) if arg.kind == "positive" else (-16, 17)
    array = np.asarray(random.integers(low, high, arg.shape)) / 8
    if arg.kind == "complex":
        array = array + 1j * np.asarray(random.integers(low, high, arg.shape)) / 8
    return np.asarray(array).astype(arg.dtype)


def _sparse(arg: Arg, random: Random) -> tuple[Arg, Arg, Arg]:
    """Indices, values and dense shape of a SparseTensor, in order."""
    share = 0.5 if arg.value is None else 1.0
    cells = np.argwhere(random.random(arg.shape) < share)
    if not len(cells):
        cells = np.zeros((1, len(arg.shape)), np.int64)
    if arg.value is None:
        values = _operand(Arg("integer" if "int" in arg.dtype else "real", (len(cells),),
                              dtype=arg.dtype), random)  # fmt: skip
    else:
        values = random.integers(0, arg.value, len(cells))
    kind = "integer" if "int" in arg.dtype else "real"
    return (
        Arg("index", value=cells.tolist(), dtype="int64"),
        Arg(kind, value=values.tolist(), dtype=arg.dtype),
        Arg("size", value=list(arg.shape), dtype="int64"),
    )


def _pick(random: Random, choices: Any) -> Any:
    return choices[int(random.integers(len(choices)))]


def _walk(leaves: list[Leaf]) -> Iterator[Leaf]:
    for leaf in leaves:
        yield leaf
        yield from _walk(leaf.parts)


def _of(leaves: list[Leaf], kinds: tuple[str, ...]) -> list[Leaf]:
    return [leaf for leaf in _walk(leaves) if leaf.kind in kinds]


# ---- ways to change ------------------------------------------------------------------------------


def cast(array: np.ndarray, dtype: str) -> np.ndarray:
    """The nearest array of a dtype; bfloat16 as float32, strings as objects."""
    if dtype == "string":
        return np.array([str(x).encode() for x in array.ravel().tolist()], object).reshape(
            array.shape
        )
    if array.dtype == object:
        numbers = np.arange(array.size, dtype=np.float64) % 5
        return cast(numbers.reshape(array.shape), dtype)
    if dtype in COMPLEX:
        return (array + (0 if array.dtype.kind == "c" else 0.5j)).astype(dtype)
    real = array.real if array.dtype.kind == "c" else array
    if dtype in FLOATS:
        with np.errstate(over="ignore"):
            return real.astype("float32" if dtype == "bfloat16" else dtype)
    if dtype == "bool":
        return np.asarray(real != 0)
    rounded = np.clip(np.floor(np.nan_to_num(real.astype(np.float64))), -100, 100)
    return np.asarray(np.abs(rounded) if dtype[0] == "u" else rounded).astype(dtype)


def _dtypes(random: Random, leaves: list[Leaf]) -> None:
    """Another dtype, of all operands that have the same, or of one alone."""
    operands = _of(leaves, (*OPERANDS, "variable"))
    if not operands:
        return
    leaf = _pick(random, operands)
    weights = np.array([weight for _, weight in GROUPS], float)
    dtype = _pick(random, GROUPS[int(random.choice(len(GROUPS), p=weights / weights.sum()))][0])
    old = leaf.dtype
    for other in operands if random.random() < 0.85 else [leaf]:
        if other is leaf or other.dtype == old:
            other.array, other.dtype = cast(other.array, dtype), dtype


def _alike(random: Random, leaves: list[Leaf], share: float) -> list[Leaf]:
    """An operand and, by chance, all others of its shape."""
    operands = _of(leaves, (*OPERANDS, "variable"))
    if not operands:
        return []
    leaf = _pick(random, operands)
    same = [o for o in operands if o.array.shape == leaf.array.shape]
    return same if random.random() < share else [leaf]


def _ranks(random: Random, leaves: list[Leaf]) -> None:
    """A dim more or less."""
    found = _alike(random, leaves, 0.6)
    way = _pick(random, ("first", "last", "one", "more", "scalar", "one last"))
    for leaf in found:
        array = leaf.array
        if way == "scalar" and array.size:
            array = array.reshape(-1)[0]
        elif way in ("first", "last") and array.ndim and array.size:
            array = array[0] if way == "first" else array[..., 0]
        elif way == "one":
            array = array[None]
        elif way == "one last":
            array = array[..., None]
        elif way == "more":
            array = np.stack([array, array])
        leaf.array = np.asarray(array, leaf.array.dtype)


def _resized(array: np.ndarray, dim: int, size: int) -> np.ndarray:
    old = array.shape[dim]
    if not old:
        shape = [*array.shape[:dim], size, *array.shape[dim + 1 :]]
        return np.full(shape, b"" if array.dtype == object else 0, array.dtype)
    return np.take(array, np.arange(size) % old, axis=dim)


def _sizes(random: Random, leaves: list[Leaf]) -> None:
    """A dim of another size: one operand's, or in all that have a dim of that size."""
    operands = [o for o in _of(leaves, (*OPERANDS, "variable", "index")) if o.array.ndim]
    if not operands:
        return
    leaf = _pick(random, operands)
    dim = int(random.integers(leaf.array.ndim))
    old = leaf.array.shape[dim]
    size = _pick(random, (0, 0, 0, 1, old + 1, max(old - 1, 0), 2 * old))
    leaf.array = _resized(leaf.array, dim, size)
    if random.random() < 0.5:
        for other in operands:
            for at, had in enumerate(other.array.shape):
                if other is not leaf and had == old:
                    other.array = _resized(other.array, at, size)


def _values(random: Random, leaves: list[Leaf]) -> None:
    """Other values: some of an operand's elements, or all."""
    operands = [o for o in _of(leaves, (*OPERANDS, "variable")) if o.array.size]
    if not operands:
        return
    leaf = _pick(random, operands)
    array = np.array(leaf.array)
    kind = array.dtype.kind
    if kind == "O":
        special = [b"", b"a", b"\xff\x00", b" x y ", b"12", b"-1.5e3", "é日".encode()]
    elif kind in "fc":
        limits = np.finfo(array.dtype)
        special = _pick(
            random,
            ([np.nan], [np.inf, -np.inf], [0.0, -0.0], [-1.0, 1.0], [100.0, -100.0],
             [float(limits.max), -float(limits.max)], [float(limits.tiny)], [0.5, -0.5, 1.5, 2.5]),
        )  # fmt: skip
    elif kind == "b":
        special = _pick(random, ([True], [False]))
    else:
        bounds = np.iinfo(array.dtype)
        special = _pick(random, ([0], [1], [bounds.max, bounds.min], [bounds.max // 2], [3, 7]))
    chosen = np.asarray(random.random(array.shape) < _pick(random, (0.3, 1.0)))
    count = int(chosen.sum())
    drawn = [_pick(random, special) for _ in range(count)]
    if count:
        array[chosen] = np.array(drawn, array.dtype)
    leaf.array = array


def _where(random: Random, leaves: list[Leaf]) -> None:
    """Another axis, index or size, in or out of range; or another dtype or length of it."""
    found = _of(leaves, WHERES)
    if not found:
        return
    leaf = _pick(random, found)
    flat = leaf.array.reshape(-1).copy()
    way = random.random()
    if way < 0.15:
        leaf.dtype = "int64" if leaf.dtype == "int32" else "int32"
        leaf.array = leaf.array.astype(leaf.dtype)
    elif way < 0.25 and leaf.kind == "axis":
        leaf.value = _pick(random, ([], [0, 0], [0, 1], [-1, 0], None, 0, 1, -1, [[0]], 1.0))
        leaf.how, leaf.fixed = "value", True
    elif way < 0.35 and leaf.array.ndim == 1:
        more = np.append(flat, flat[-1:] if len(flat) else [0]).astype(leaf.dtype)
        leaf.array = more if random.random() < 0.5 else flat[:-1]
    elif way < 0.4:
        leaf.array = leaf.array[None] if random.random() < 0.5 else flat[:1].reshape(-1)
    elif way < 0.45:
        leaf.array = leaf.array.astype(np.float32)
        leaf.dtype = "float32"
    elif len(flat):
        top = int(flat.max())
        new = {
            "axis": (-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 100),
            "index": (-1, 0, 1, 2, top + 1, top + 2, 100, -100),
            "size": (-1, -2, 0, 1, 2, 3, top + 1, 7),
        }[leaf.kind]
        flat[int(random.integers(len(flat)))] = _pick(random, new)
        leaf.array = flat.reshape(leaf.array.shape)


def _options(random: Random, leaves: list[Leaf]) -> None:
    """Another choice of an option or dtype, or an argument that may be left out."""
    found = [o for o in _of(leaves, ("option", "dtype", "maybe")) if o.parts or o.arg.choices]
    if not found:
        return
    leaf = _pick(random, found)
    if leaf.kind == "maybe":
        leaf.value = "given"
    else:
        leaf.value = _pick(random, leaf.arg.choices)


def _none(random: Random, leaves: list[Leaf]) -> None:
    """None in place of an argument."""
    tensors = _of(leaves, (*OPERANDS, *WHERES))
    if tensors and random.random() < 0.35:
        _pick(random, tensors).how = "none"


def _lists(random: Random, leaves: list[Leaf]) -> None:
    """A list with one part more or less, or none."""
    found = [leaf for leaf in _of(leaves, ("list",)) if leaf.parts]
    if not found:
        return
    leaf = _pick(random, found)
    way = random.random()
    if way < 0.4:
        leaf.parts = leaf.parts[:-1]
    elif way < 0.8:
        leaf.parts = [*leaf.parts, Leaf(leaf.arg.parts[-1], random)]
    else:
        leaf.parts = []


# Ways to change, and how often each is drawn.
CHANGES: tuple[tuple[Callable[[Random, list[Leaf]], None], int], ...] = (
    (_dtypes, 5), (_ranks, 3), (_sizes, 4), (_values, 5), (_where, 6), (_options, 5), (_none, 1),
    (_lists, 2),
)  # fmt: skip


# ---- how it is given -----------------------------------------------------------------------------


def _static(
    random: Random, shape: tuple[int, ...], ranked: bool = False
) -> list[int | None] | None:
    """What a placeholder knows of its shape: ``ranked``, at least its rank."""
    draw = random.random() * (0.7 if ranked else 1.0)
    if draw < 0.4:
        return list(shape)
    if draw < 0.7:
        return [size if random.random() < 0.5 else None for size in shape]
    return None


def _give(random: Random, leaf: Leaf, inside: bool) -> None:
    """Decides how a tensor is given: ``inside`` a sparse tensor as a whole."""
    if leaf.kind in ("axis", "size") and leaf.how == "value" and not leaf.fixed:
        leaf.how, leaf.value = "const", leaf.array.tolist()
        if random.random() < 0.6 and not inside:
            leaf.how = "value"
            return
    if leaf.kind in (*OPERANDS, *WHERES) and leaf.how == "const":
        leaf.how = _pick(random, HOWS)
        if leaf.how == "py" and leaf.dtype == "bfloat16" or leaf.how != "feed" and leaf.arg.ranked:
            leaf.how = "const"
        if leaf.how == "feed":
            leaf.static = _static(random, leaf.array.shape, leaf.arg.ranked)
    if leaf.kind == "variable":
        leaf.how = _pick(random, ("ref", "resource"))
    for part in leaf.parts:
        _give(random, part, leaf.kind == "sparse")
    if leaf.kind == "sparse":
        fed = random.random() < 0.4
        for part in leaf.parts:
            if part.how != "none":
                part.how = "feed" if fed else "const"
                part.static = _static(random, part.array.shape) if fed else None


def _case(row: Call, number: int, seed: int) -> dict[str, Any]:
    name = f"{row.name}/{seed}/{number}"
    random = np.random.default_rng(zlib.crc32(name.encode()))
    args = [Leaf(arg, random) for arg in row.args]
    kwargs = {key: Leaf(arg, random) for key, arg in row.kwargs.items()}
    leaves = [*args, *kwargs.values()]
    if number or seed:
        weights = np.array([weight for _, weight in CHANGES], float)
        for _ in range(_pick(random, (0, 1, 1, 1, 1, 2, 2, 3))):
            way = CHANGES[int(random.choice(len(CHANGES), p=weights / weights.sum()))][0]
            way(random, leaves)
        for leaf in leaves:
            _give(random, leaf, False)
    given = {k: v for k, v in kwargs.items() if v.kind != "maybe" or v.value == "given"}
    # A metric is a value and what updates it: in one run, the order is anyone's.
    ordered = {"ordered": True} if row.name.startswith("metrics.") else {}
    return {
        **ordered,
        "id": name,
        "op": row.name,
        "args": [leaf.spec() for leaf in args],
        "kwargs": {key: leaf.spec() for key, leaf in given.items()},
        "values": row.values,
    }


def cases(row: Call, seed: int = 0, count: int = 200) -> list[dict[str, Any]]:
    """Returns ``count`` different calls of a row, the same ones for the same seed."""
    found: dict[str, dict[str, Any]] = {}
    # A function without arguments has few calls; it is asked for no more than there are.
    for number in range(4 * count):
        case = _case(row, number, seed)
        found.setdefault(repr((case["args"], case["kwargs"])), case)
        if len(found) == count:
            break
    return list(found.values())
