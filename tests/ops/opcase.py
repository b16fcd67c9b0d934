"""The op test table: what one row says, and the input data it stands for.

One table serves four readers: ``test_cases`` (runs every row), ``test_gradients`` (numeric
gradients), ``test_coverage`` (every op has a row) and ``tests.conformance`` (every row against
TensorFlow).  A row names an op type, its inputs in op-def order, attrs and the dtypes to sweep::

    OpCase("Sum", [real(3, 4), const([1], "int32")], {"keep_dims": True}, FLOATS)
    OpCase("ConcatV2", [[real(2, 3), real(2, 1)], const(1, "int32")], {}, ALL)
    OpCase("Cast", [real(3, dtype="float32")], {"DstT": "T"}, NUMERIC, type_attr="DstT")
    OpCase("AssignAdd", [var(real(3)), real(3)])

Rows live in ``tests/ops/cases/<family>.py`` as ``CASES``; several shapes are several rows.  Random
data is drawn from a seed made of the row's id, so it is the same in every process; the same draw
is cast to each dtype of the sweep.  "T" as a dtype means "the dtype of the sweep", in inputs and as
the value of an attr.  Attrs that inputs determine (T, N, ...) are never given.

bfloat16 has no NumPy dtype: its values are held as float32 arrays that bfloat16 can represent.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

FLOATS = ("float32", "float64", "half", "bfloat16")
FLOATS_NO_BF16 = ("float32", "float64", "half")
FLOAT_DOUBLE = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
SIGNED_INTS = ("int8", "int16", "int32", "int64")
UNSIGNED_INTS = ("uint8", "uint16")
INTS = SIGNED_INTS + UNSIGNED_INTS
INDEX = ("int32", "int64")
REALS = FLOATS + INTS
NUMERIC = REALS + COMPLEX
ALL = (*NUMERIC, "bool")

_ALIASES = {"float": "float32", "double": "float64", "float16": "half"}
_NUMPY_NAME = {"half": "float16", "bfloat16": "float32", "string": "object"}
# Values of a quantized type are its integers.
QUANTIZED = ("qint8", "quint8", "qint16", "quint16", "qint32")
_NUMPY_NAME |= {name: name.replace("q", "", 1) for name in QUANTIZED}


def canonical(dtype: str) -> str:
    """Returns the name this table uses for a dtype: ``float32``, ``float64``, ``half``, ..."""
    name = dtype.removesuffix("_ref")
    return _ALIASES.get(name, name)


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """Returns the NumPy dtype that holds values of ``dtype`` (float32 for bfloat16)."""
    return np.dtype(_NUMPY_NAME.get(canonical(dtype), canonical(dtype)))


def is_floating(dtype: str) -> bool:
    """True for real floating-point dtypes."""
    return canonical(dtype) in FLOATS


def is_complex(dtype: str) -> bool:
    """True for complex dtypes."""
    return canonical(dtype) in COMPLEX


def round_to_bfloat16(array: np.ndarray) -> np.ndarray:
    """Rounds to the nearest bfloat16 (ties to even); the result is float32."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    result = rounded.astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(array), result, np.asarray(array, np.float32)).reshape(array.shape)


def cast(array: Any, dtype: str) -> np.ndarray:
    """Casts drawn or given values to ``dtype``: integers are rounded, unsigned clipped at 0."""
    dtype = canonical(dtype)
    if dtype == "string":
        return np.array(array, dtype=object)
    array = np.asarray(array)
    target = numpy_dtype(dtype)
    if target.kind in "iu" and array.dtype.kind in "fc":
        array = np.rint(array.real)
    if target.kind == "u" and array.dtype.kind in "fi":
        array = np.maximum(array, 0)
    if target.kind != "c" and array.dtype.kind == "c":
        array = array.real
    array = array.astype(target)
    return round_to_bfloat16(array) if dtype == "bfloat16" else array


@dataclasses.dataclass(frozen=True)
class Spec:
    """How to make one input: a draw (rng, dtype) -> array, a dtype, and how it enters the graph.

    ``how``: "feed" (placeholder), "const" (statically known), "var" (reference variable),
    "resvar" (handle of a resource variable), "made" (output of another op, see ``made``).
    """

    draw: Callable[[np.random.Generator, str, list[np.ndarray]], Any]
    dtype: str = "T"
    how: str = "feed"
    maker: OpCase | None = None
    index: int = 0


@dataclasses.dataclass(frozen=True)
class Input:
    """One input with its data: what a runner (Penstock's or TensorFlow's) builds and feeds."""

    how: str
    dtype: str
    value: np.ndarray
    maker: Bound | None = None
    index: int = 0


Inputs = list["Input | list[Input]"]


def real(*shape: int, lo: float = -2, hi: float = 2, dtype: str = "T") -> Spec:
    """Uniform values in [lo, hi); complex dtypes get an imaginary part, ints are rounded."""

    def draw(rng: np.random.Generator, dtype: str, _: list[np.ndarray]) -> Any:
        values = rng.uniform(lo, hi, shape)
        imaginary = rng.uniform(lo, hi, shape)
        if dtype == "bool":
            return values > (lo + hi) / 2
        if dtype == "string":
            return np.array([b"%.2f" % v for v in values.ravel()], object).reshape(shape)
        if numpy_dtype(dtype).kind == "u":
            values = rng.uniform(max(lo, 0), max(hi, 1), shape)
        return values + 1j * imaginary if is_complex(dtype) else values

    return Spec(draw, dtype)


def ints(*shape: int, lo: int = 0, hi: int = 5, dtype: str = "int32") -> Spec:
    """Integers in [lo, hi), e.g. indices."""
    return Spec(lambda rng, dtype, _: rng.integers(lo, hi, shape), dtype)


def bools(*shape: int) -> Spec:
    """Random booleans."""
    return Spec(lambda rng, dtype, _: rng.random(shape) < 0.5, "bool")


def distinct(*shape: int, lo: float = -2, hi: float = 2, dtype: str = "T") -> Spec:
    """Values without ties (for max, sort, top_k): a shuffled ramp; 0..n-1 shuffled for ints."""

    def draw(rng: np.random.Generator, dtype: str, _: list[np.ndarray]) -> Any:
        size = int(np.prod(shape))
        order = rng.permutation(size).reshape(shape)
        if numpy_dtype(dtype).kind in "iu":
            return order
        values = lo + (hi - lo) * (order + 0.5) / max(size, 1)
        return values + 1j * values[::-1] if is_complex(dtype) else values

    return Spec(draw, dtype)


def _square(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    values = rng.uniform(-1, 1, shape)
    imaginary = rng.uniform(-1, 1, shape)
    return values + 1j * imaginary if is_complex(dtype) else values


def spd(n: int, *, batch: tuple[int, ...] = (), dtype: str = "T") -> Spec:
    """Symmetric (Hermitian) positive definite matrices, well conditioned."""

    def draw(rng: np.random.Generator, dtype: str, _: list[np.ndarray]) -> Any:
        a = _square(rng, dtype, (*batch, n, n))
        return a @ np.conj(np.swapaxes(a, -1, -2)) / n + np.diag(np.linspace(1, 2, n))

    return Spec(draw, dtype)


def wellcond(n: int, *, batch: tuple[int, ...] = (), dtype: str = "T") -> Spec:
    """Square matrices far from singular: random in [-1, 1) plus a dominant diagonal."""

    def draw(rng: np.random.Generator, dtype: str, _: list[np.ndarray]) -> Any:
        return _square(rng, dtype, (*batch, n, n)) + n * np.eye(n)

    return Spec(draw, dtype)


def triangular(
    n: int, *, batch: tuple[int, ...] = (), lower: bool = True, dtype: str = "T"
) -> Spec:
    """Triangular matrices with a dominant diagonal."""

    def draw(rng: np.random.Generator, dtype: str, _: list[np.ndarray]) -> Any:
        a = _square(rng, dtype, (*batch, n, n)) + n * np.eye(n)
        return np.tril(a) if lower else np.triu(a)

    return Spec(draw, dtype)


def feed(value: Any, dtype: str = "T") -> Spec:
    """A given value, fed through a placeholder: its value is not known statically."""
    return Spec(lambda rng, dtype, _: value, dtype)


def strings(value: Sequence[Any]) -> Spec:
    """Given byte strings (nested lists, ``bytes`` or ``str``), fed."""
    encode = np.vectorize(lambda s: s.encode() if isinstance(s, str) else s, otypes=[object])
    array = np.array(value, dtype=object)
    return Spec(lambda rng, dtype, _: encode(array) if array.size else array, "string")


def derived(function: Callable[..., Any], dtype: str = "T") -> Spec:
    """A value computed from the arrays of the inputs before it (flattened), then fed."""
    return Spec(lambda rng, dtype, before: function(*before), dtype)


def const(value: Any, dtype: str = "int32") -> Spec:
    """A statically known input (shapes, axes): a value, or one of the specs above."""
    if isinstance(value, Spec):
        return dataclasses.replace(value, how="const")
    return dataclasses.replace(feed(value, dtype), how="const")


def var(spec: Spec) -> Spec:
    """A reference variable with that initial value; what it holds afterwards is compared too."""
    return dataclasses.replace(spec, how="var")


def resvar(spec: Spec) -> Spec:
    """The handle of a resource variable with that initial value; compared afterwards too."""
    return dataclasses.replace(spec, how="resvar")


def made(op: str, inputs: Sequence[Any] = (), index: int = 0, **attrs: Any) -> Spec:
    """Output ``index`` of another op (a handle, a reserve space), made in the same graph."""
    maker = OpCase(op, inputs, attrs, id="made")
    return Spec(lambda rng, dtype, _: np.zeros(()), "float32", "made", maker, index)


@dataclasses.dataclass(frozen=True)
class OpCase:
    """One row of the op table.

    Attributes:
      op: The op type.
      inputs: Specs in op-def order; a Python list of specs for a list input.
      attrs: Attrs the inputs do not determine.  Type attrs are dtype strings, "T" the sweep's.
      dtypes: The sweep.
      grad: None: gradients are checked wherever the op has one.  False: not numerically for this
        row (say why in ``grad_reason``; ``tests.conformance.differentiated`` says which of these
        are not compared with TensorFlow either).  A tuple: only with respect to these (flattened)
        inputs.
      grad2: Check the second order numerically too.
      rtol, atol: Tolerance of this row, looser than the table's; needs ``tol_reason``.
      id: Unique; "" is replaced by op and number.
      reason: If set, values cannot be compared with TensorFlow, and this says why; the row is
        still built and run, and dtypes and static shapes are compared.
      oracle: "tf2", or "tf1" for what TensorFlow 1.15 does and 2.21 does not.
      type_attr: The attr the sweep is about (documentation and gradients only).
      raises: The row is an error: building or running it must raise, as in TensorFlow.
      ref: NumPy reference, called with the flattened input arrays; returns one array or a tuple.
      compare: Optional map of each output array before comparison (``np.abs`` where a sign is
        arbitrary); gets (output index, array).
    """

    op: str
    inputs: Sequence[Any]
    attrs: dict[str, Any] = dataclasses.field(default_factory=dict)
    dtypes: tuple[str, ...] = ("float32",)
    grad: bool | tuple[int, ...] | None = None
    grad2: bool = False
    rtol: float | None = None
    atol: float | None = None
    tol_reason: str = ""
    id: str = ""
    reason: str = ""
    oracle: str = "tf2"
    type_attr: str = "T"
    raises: bool = False
    ref: Callable[..., Any] | None = None
    compare: Callable[[int, np.ndarray], np.ndarray] | None = None
    grad_reason: str = ""

    def __post_init__(self) -> None:
        if (self.rtol is not None or self.atol is not None) and not self.tol_reason:
            raise ValueError(f"{self.op} {self.id}: a tolerance of its own needs tol_reason")
        if self.grad is False and not self.grad_reason:
            raise ValueError(f"{self.op} {self.id}: grad=False needs grad_reason")
        if self.oracle not in ("tf2", "tf1"):
            raise ValueError(f"{self.op} {self.id}: oracle must be tf2 or tf1")

    @property
    def specs(self) -> list[Spec]:
        """The specs of the inputs, lists flattened."""
        listed = (s if isinstance(s, list | tuple) else [s] for s in self.inputs)
        return [spec for specs in listed for spec in specs]

    def bind(self, dtype: str) -> Bound:
        """Returns the row with data and attrs for one dtype of the sweep."""
        rng = np.random.default_rng(zlib.crc32(self.id.encode()))
        before: list[np.ndarray] = []
        return _bind(self, canonical(dtype), rng, before)


@dataclasses.dataclass(frozen=True)
class Bound:
    """A row bound to one dtype: concrete inputs and attrs."""

    case: OpCase
    dtype: str
    inputs: Inputs
    attrs: dict[str, Any]

    @property
    def id(self) -> str:
        """Id of the row and dtype, e.g. ``Add_0-float32``."""
        return f"{self.case.id}-{self.dtype}"

    @property
    def flat(self) -> list[Input]:
        """The inputs, lists flattened."""
        return [i for x in self.inputs for i in (x if isinstance(x, list) else [x])]


def _bind(case: OpCase, dtype: str, rng: np.random.Generator, before: list[np.ndarray]) -> Bound:
    def one(spec: Spec) -> Input:
        if spec.maker is not None:
            return Input("made", "", np.zeros(()), _bind(spec.maker, dtype, rng, []), spec.index)
        name = canonical(dtype if spec.dtype == "T" else spec.dtype)
        value = cast(spec.draw(rng, name, before), name)
        before.append(value)
        return Input(spec.how, name, value)

    inputs: Inputs = [
        [one(s) for s in spec] if isinstance(spec, list | tuple) else one(spec)
        for spec in case.inputs
    ]
    return Bound(case, dtype, inputs, {k: _attr(v, dtype) for k, v in case.attrs.items()})


def _attr(value: Any, dtype: str) -> Any:
    if isinstance(value, str):
        return dtype if value == "T" else value
    if isinstance(value, list | tuple):
        return [_attr(v, dtype) for v in value]
    return value
