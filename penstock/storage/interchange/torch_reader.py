"""Torch modules as nodes of the default graph, by the ATen calls that ``torch.export`` finds.

The module is traced on example inputs and broken down into ATen's core operators; each has a rule
here.  Its parameters become variables, so that what came in can be trained on.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from penstock.engine.runtime.values import to_array
from penstock.foundation.base import dtypes
from penstock.foundation.graph import convert, scopes
from penstock.foundation.graph.build import make
from penstock.library.variables.variable import Variable
from penstock.ops.array.constant import constant
from penstock.storage.interchange.model import Unportable

_aten = torch.ops.aten
Rule = Callable[..., Any]
_UNARY = {
    "abs": "Abs", "acos": "Acos", "asin": "Asin", "atan": "Atan", "ceil": "Ceil", "cos": "Cos",
    "cosh": "Cosh", "erf": "Erf", "exp": "Exp", "expm1": "Expm1", "floor": "Floor", "log": "Log",
    "log1p": "Log1p", "neg": "Neg", "reciprocal": "Reciprocal", "relu": "Relu", "round": "Rint",
    "rsqrt": "Rsqrt", "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin", "sinh": "Sinh",
    "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh", "isnan": "IsNan", "isinf": "IsInf",
    "logical_not": "LogicalNot", "clone": "Identity", "alias": "Identity", "detach": "Identity",
}  # fmt: skip
_BINARY = {
    "mul": "Mul", "pow": "Pow", "maximum": "Maximum", "minimum": "Minimum", "eq": "Equal",
    "ne": "NotEqual", "lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual",
    "logical_and": "LogicalAnd", "logical_or": "LogicalOr", "atan2": "Atan2",
    "remainder": "FloorMod",
}  # fmt: skip
_DTYPES = {
    getattr(torch, name): getattr(dtypes, name)
    for name in ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64",
                 "uint8", "bool")
}  # fmt: skip


# ---- values --------------------------------------------------------------------------------------


def _like(value: Any, x: Any) -> Any:
    """A number as a tensor of another's type."""
    if hasattr(value, "op"):
        return value if value.dtype is x.dtype else make("Cast", value, DstT=x.dtype.base_dtype)
    return constant(np.array(value, x.dtype.base_dtype.as_numpy_dtype))


def _two(x: Any, y: Any) -> tuple[Any, Any]:
    """Both operands as tensors of the type that torch would compute with."""
    if not hasattr(x, "op"):
        return _like(x, y), y
    if not hasattr(y, "op"):
        whole = x.dtype.is_integer or x.dtype is dtypes.bool
        x = make("Cast", x, DstT=dtypes.float32) if whole and isinstance(y, float) else x
        x = make("Cast", x, DstT=dtypes.int64) if x.dtype is dtypes.bool else x
        return x, _like(y, x)
    if x.dtype.base_dtype is y.dtype.base_dtype:
        return x, y
    kinds = [getattr(torch, t.dtype.base_dtype.name) for t in (x, y)]
    wide = _DTYPES[torch.promote_types(*kinds)]
    return make("Cast", x, DstT=wide), make("Cast", y, DstT=wide)


def _dims(sizes: Sequence[Any]) -> Any:
    """A shape of numbers and of sizes that only a step knows."""
    if not any(hasattr(size, "op") for size in sizes):
        return constant(np.array(sizes, np.int64))
    parts = [make("Cast", _like_long(size), DstT=dtypes.int64) for size in sizes]
    return make("Pack", parts)


def _like_long(size: Any) -> Any:
    return size if hasattr(size, "op") else constant(np.int64(size))


def _rank(x: Any) -> int:
    return len(x.sizes)


def _axes(x: Any, dims: Any) -> list[int]:
    rank = _rank(x)
    if dims is None or dims == []:
        return list(range(rank))
    return [d % rank for d in ([dims] if isinstance(dims, int) else dims)]


def _ints(values: Sequence[int]) -> Any:
    return constant(np.array(values, np.int32))


# ---- elements ------------------------------------------------------------------------------------


def _unary(op: str) -> Rule:
    def rule(x: Any, **rest: Any) -> Any:
        floats = op not in ("Abs", "Neg", "Relu", "Sign", "LogicalNot", "Identity")
        x = make("Cast", x, DstT=dtypes.float32) if floats and x.dtype.is_integer else x
        return make(op, x)

    return rule


def _binary(op: str) -> Rule:
    return lambda x, y, **rest: make(op, *_two(x, y))


def _scaled(op: str) -> Rule:
    def rule(x: Any, y: Any, alpha: float = 1) -> Any:
        first, second = _two(x, y)
        if alpha != 1:
            second = make("Mul", second, _like(alpha, second))
        return make(op, first, second)

    return rule


def _div(x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    first, second = _two(x, y)
    if rounding_mode == "floor":
        return make("FloorDiv", first, second)
    if rounding_mode == "trunc":
        return make("TruncateDiv", first, second)
    if first.dtype.is_integer:
        first, second = (make("Cast", each, DstT=dtypes.float32) for each in (first, second))
    return make("RealDiv", first, second)


def _clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    x = x if low is None else make("Maximum", *_two(x, low))
    return x if high is None else make("Minimum", *_two(x, high))


def _gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        cube = make("Mul", make("Mul", x, x), make("Mul", x, _like(0.044715, x)))
        inner = make("Mul", _like(math.sqrt(2 / math.pi), x), make("AddV2", x, cube))
        curve = make("Tanh", inner)
    else:
        curve = make("Erf", make("Mul", x, _like(math.sqrt(0.5), x)))
    return make("Mul", make("Mul", _like(0.5, x), x), make("AddV2", _like(1, x), curve))


def _elu(x: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    below = make("Mul", _like(alpha * scale, x),
                 make("Expm1", make("Mul", x, _like(input_scale, x))))  # fmt: skip
    return make("SelectV2", make("Less", x, _like(0, x)), below, make("Mul", x, _like(scale, x)))


def _leaky(x: Any, slope: float = 0.01) -> Any:
    return make("LeakyRelu", x, alpha=slope)


def _where(test: Any, x: Any, y: Any) -> Any:
    return make("SelectV2", test, *_two(x, y))


def _cast(x: Any, *rest: Any, dtype: Any = None, **more: Any) -> Any:
    return x if dtype is None else make("Cast", x, DstT=_DTYPES[dtype])


# ---- reductions and products ---------------------------------------------------------------------


def _reduced(op: str) -> Rule:
    def rule(x: Any, dims: Any = None, keep: bool = False, **rest: Any) -> Any:
        x = make("Cast", x, DstT=dtypes.int64) if x.dtype is dtypes.bool else x
        return make(op, x, _ints(_axes(x, dims)), keep_dims=keep)

    return rule


def _truth(op: str) -> Rule:
    def rule(x: Any, dims: Any = None, keep: bool = False) -> Any:
        return make(op, make("Cast", x, DstT=dtypes.bool), _ints(_axes(x, dims)), keep_dims=keep)

    return rule


def _variance(x: Any, dims: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    axes = _axes(x, dims)
    squares = make("SquaredDifference", x, make("Mean", x, _ints(axes), keep_dims=True))
    count = math.prod(x.sizes[axis] for axis in axes)
    total = make("Sum", squares, _ints(axes), keep_dims=keepdim)
    return make("RealDiv", total, _like(count - (1 if correction is None else correction), total))


def _arg(op: str) -> Rule:
    def rule(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            x, dim = make("Reshape", x, _ints([-1])), 0
        made = make(op, x, constant(dim), output_type=dtypes.int64)
        return make("ExpandDims", made, constant(dim)) if keepdim else made

    return rule


def _addmm(bias: Any, a: Any, b: Any, beta: float = 1, alpha: float = 1) -> Any:
    made = make("MatMul", a, b)
    made = made if alpha == 1 else make("Mul", made, _like(alpha, made))
    return make("AddV2", made, bias if beta == 1 else make("Mul", bias, _like(beta, bias)))


def _softmax(op: str) -> Rule:
    def rule(x: Any, dim: int, half_to_float: bool = False) -> Any:
        rank = _rank(x)
        if dim % rank == rank - 1:
            return make(op, x)
        perm = list(range(rank))
        perm[dim % rank], perm[-1] = perm[-1], perm[dim % rank]
        return make("Transpose", make(op, make("Transpose", x, _ints(perm))), _ints(perm))

    return rule


# ---- images --------------------------------------------------------------------------------------


def _last(x: Any, function: Callable[[Any], Any]) -> Any:
    rank = _rank(x)
    there, back = [0, *range(2, rank), 1], [0, rank - 1, *range(1, rank - 1)]
    return make("Transpose", function(make("Transpose", x, _ints(there))), _ints(back))


def _padded(x: Any, pads: Sequence[int], value: float = 0.0) -> Any:
    """Spatial dims padded alike at both ends."""
    if not any(pads):
        return x
    pairs = np.array([(0, 0), (0, 0), *((p, p) for p in pads)], np.int32)
    return make("PadV2", x, constant(pairs), _like(value, x))


def _by_channel(b: Any, rank: int) -> Any:
    return make("Reshape", b, _ints([-1, *[1] * (rank - 2)]))


def _convolution(
    x: Any, w: Any, b: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    count = _rank(w) - 2
    if count > 2:
        raise Unportable(f"a convolution over {count} dims")
    stride, padding, dilation = (list(each) for each in (stride, padding, dilation))
    if count == 1:
        x, w = (make("ExpandDims", each, constant(2)) for each in (x, w))
        stride, padding, dilation = [1, *stride], [0, *padding], [1, *dilation]
        output_padding = [0, *output_padding]
    window: dict[str, Any]
    window = {"strides": [1, 1, *stride], "dilations": [1, 1, *dilation], "data_format": "NCHW"}
    filters = make("Transpose", w, _ints([2, 3, 1, 0]))
    if transposed:
        made = _transposed(x, w, filters, stride, padding, dilation, output_padding, groups, window)
    else:
        made = make("Conv2D", _padded(x, padding), filters, padding="VALID", **window)
    made = make("Squeeze", made, squeeze_dims=[2]) if count == 1 else made
    return made if b is None else make("AddV2", made, _by_channel(b, _rank(made)))


def _transposed(
    x: Any, w: Any, filters: Any, stride: Any, padding: Any, dilation: Any, extra: Any,
    groups: int, window: dict[str, Any],
) -> Any:  # fmt: skip
    if groups != 1:
        raise Unportable("a transposed convolution in groups")
    full = [
        (n - 1) * s + (k - 1) * d + 1 + more
        for n, s, k, d, more in zip(x.sizes[2:], stride, w.sizes[2:], dilation, extra, strict=True)
    ]
    sizes = constant(np.array([x.sizes[0], w.sizes[1], *full], np.int32))
    made = make("Conv2DBackpropInput", sizes, filters, x, padding="VALID", **window)
    begin = [0, 0, *padding]
    end = [x.sizes[0], w.sizes[1], *(n - p for n, p in zip(full, padding, strict=True))]
    return make("StridedSlice", made, _ints(begin), _ints(end), _ints([1] * 4))


def _two_of(value: Any) -> list[int]:
    return [value] * 2 if isinstance(value, int) else list(value) * (2 // len(value))


def _max_pool(
    x: Any, size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil: bool = False
) -> Any:
    if _two_of(dilation) != [1, 1] or ceil:
        raise Unportable("windows with dilations, or rounded up")
    window = [1, *_two_of(size), 1]
    steps = [1, *_two_of(stride or size), 1]
    made = _last(
        _padded(x, _two_of(padding), -math.inf),
        lambda each: make("MaxPool", each, ksize=window, strides=steps, padding="VALID"),
    )
    return [made, None]


def _avg_pool(
    x: Any, size: Any, stride: Any = (), padding: Any = 0, ceil: bool = False,
    count_include_pad: bool = True, divisor: Any = None,
) -> Any:  # fmt: skip
    if ceil or divisor is not None:
        raise Unportable("rounded up, or with a divisor")

    def pooled(image: Any) -> Any:
        window, steps = [1, *_two_of(size), 1], [1, *_two_of(stride or size), 1]
        return _last(_padded(image, _two_of(padding)), lambda each: make(
            "AvgPool", each, ksize=window, strides=steps, padding="VALID"))  # fmt: skip

    made = pooled(x)
    if count_include_pad or not any(_two_of(padding)):
        return made
    return make("RealDiv", made, pooled(make("OnesLike", x)))


def _adaptive_avg_pool(x: Any, size: Any) -> Any:
    height, width = x.sizes[2:]
    out_height, out_width = _two_of(size)
    if height % out_height or width % out_width:
        raise Unportable("an adaptive pool whose windows differ")
    return _avg_pool(x, [height // out_height, width // out_width])


def _normal(x: Any, mean: Any, variance: Any, epsilon: float) -> Any:
    spread = make("Rsqrt", make("AddV2", variance, _like(epsilon, variance)))
    return make("Mul", make("Sub", x, mean), spread)


def _batch_norm(
    x: Any, w: Any, b: Any, mean: Any, variance: Any, momentum: float, epsilon: float
) -> Any:
    rank = _rank(x)
    made = _normal(x, _by_channel(mean, rank), _by_channel(variance, rank), epsilon)
    made = made if w is None else make("Mul", made, _by_channel(w, rank))
    return [made if b is None else make("AddV2", made, _by_channel(b, rank)), None, None]


def _layer_norm(x: Any, shape: Any, w: Any, b: Any, epsilon: float) -> Any:
    axes = _ints(range(_rank(x) - len(shape), _rank(x)))
    mean = make("Mean", x, axes, keep_dims=True)
    variance = make("Mean", make("SquaredDifference", x, mean), axes, keep_dims=True)
    made = _normal(x, mean, variance, epsilon)
    made = made if w is None else make("Mul", made, w)
    return [made if b is None else make("AddV2", made, b), mean, variance]


def _group_norm(
    x: Any, w: Any, b: Any, n: Any, channels: int, size: int, groups: int, epsilon: float
) -> Any:
    dims = make("Shape", x, out_type=dtypes.int64)
    inner = make("Reshape", x, _dims([n, groups, -1]))
    axes = _ints([2])
    mean = make("Mean", inner, axes, keep_dims=True)
    variance = make("Mean", make("SquaredDifference", inner, mean), axes, keep_dims=True)
    made = make("Reshape", _normal(inner, mean, variance, epsilon), dims)
    rank = _rank(x)
    made = made if w is None else make("Mul", made, _by_channel(w, rank))
    return [made if b is None else make("AddV2", made, _by_channel(b, rank)), None, None]


def _pad(x: Any, pads: Sequence[int], value: float = 0.0) -> Any:
    rank = _rank(x)
    pairs = [[0, 0] for _ in range(rank)]
    for i in range(len(pads) // 2):
        pairs[rank - 1 - i] = [pads[2 * i], pads[2 * i + 1]]
    return make("PadV2", x, constant(np.array(pairs, np.int32)), _like(value, x))


def _upsample(op: str) -> Rule:
    def rule(x: Any, size: Any, *rest: Any) -> Any:
        align = bool(rest[0]) if op == "ResizeBilinear" else False
        half = op == "ResizeBilinear" and not align
        if size is None:
            raise Unportable("its size is given by a factor")
        return _last(x, lambda each: make(op, each, _ints(list(size)), align_corners=align,
                                          half_pixel_centers=half))  # fmt: skip

    return rule


# ---- shapes --------------------------------------------------------------------------------------


def _permute(x: Any, dims: Sequence[int]) -> Any:
    return make("Transpose", x, _ints([d % _rank(x) for d in dims]))


def _turned(x: Any, first: int = 0, second: int = 1) -> Any:
    perm = list(range(_rank(x)))
    perm[first], perm[second] = perm[second], perm[first]
    return make("Transpose", x, _ints(perm))


def _view(x: Any, sizes: Sequence[Any]) -> Any:
    return make("Reshape", x, _dims(sizes))


def _expand(x: Any, sizes: Sequence[Any], implicit: bool = False) -> Any:
    lead = len(sizes) - _rank(x)
    wanted = [
        _size(x, i - lead) if not hasattr(size, "op") and size == -1 else size
        for i, size in enumerate(sizes)
    ]
    return make("BroadcastTo", x, _dims(wanted))


def _size(x: Any, dim: int) -> Any:
    known = x.sizes[dim]
    if known is not None:
        return known
    shape = make("Shape", x, out_type=dtypes.int64)
    place = constant(np.array([dim % _rank(x)], np.int64))
    return make("StridedSlice", shape, place, constant(np.array([dim % _rank(x) + 1], np.int64)),
                constant(np.array([1], np.int64)), shrink_axis_mask=1)  # fmt: skip


def _squeeze(x: Any, dims: Any = None) -> Any:
    axes = [d for d in _axes(x, dims) if x.sizes[d] == 1]
    return make("Squeeze", x, squeeze_dims=axes) if axes else x


def _unsqueeze(x: Any, dim: int) -> Any:
    return make("ExpandDims", x, constant(dim))


def _select(x: Any, dim: int, index: int) -> Any:
    dim %= _rank(x)
    if index < 0:
        index += x.sizes[dim]
    return make("GatherV2", x, constant(index), constant(dim))


def _slice(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    dim %= _rank(x)
    most = np.iinfo(np.int64).max
    mask = sum(1 << i for i in range(_rank(x)) if i != dim)
    begin = [0] * _rank(x)
    limit: list[Any] = [0] * _rank(x)
    steps = [1] * _rank(x)
    begin[dim], limit[dim], steps[dim] = start or 0, most if end is None else end, step
    return make("StridedSlice", x, _dims(begin), _dims(limit), _dims(steps), begin_mask=mask,
                end_mask=mask)  # fmt: skip


def _cat(parts: Sequence[Any], dim: int = 0) -> Any:
    full = [part for part in parts if part.sizes != (0,)]
    return make("ConcatV2", list(full), constant(dim)) if len(full) > 1 else full[0]


def _stack(parts: Sequence[Any], dim: int = 0) -> Any:
    return make("Pack", list(parts), axis=dim)


def _split(x: Any, size: Any, dim: int = 0) -> Any:
    dim %= _rank(x)
    sizes = list(size) if not isinstance(size, int) else []
    if not sizes:
        whole = x.sizes[dim]
        sizes = [size] * (whole // size) + ([whole % size] if whole % size else [])
    return make("SplitV", x, constant(np.array(sizes, np.int64)), constant(dim),
                num_split=len(sizes))  # fmt: skip


def _embedding(w: Any, index: Any, *rest: Any) -> Any:
    return make("GatherV2", w, index, constant(0))


def _index(x: Any, indices: Sequence[Any]) -> Any:
    given = [(i, index) for i, index in enumerate(indices) if index is not None]
    if len(given) != 1:
        raise Unportable("it picks by several tensors")
    return make("GatherV2", x, given[0][1], constant(given[0][0]))


def _full(sizes: Any, value: Any, dtype: Any = torch.float32, **rest: Any) -> Any:
    kind = _DTYPES[dtype or (torch.int64 if isinstance(value, int) else torch.float32)]
    return make("Fill", _dims(sizes), constant(np.array(value, kind.as_numpy_dtype)))


def _arange(start: Any, end: Any, step: Any = 1, dtype: Any = torch.int64, **rest: Any) -> Any:
    kind = _DTYPES[dtype or torch.int64].as_numpy_dtype
    return make("Range", *(constant(np.array(v, kind)) for v in (start, end, step)))


def _full_like(x: Any, value: Any, **rest: Any) -> Any:
    return make("Fill", make("Shape", x), _like(value, x))


def _item(value: Any, index: int) -> Any:
    return value[index]


RULES: dict[str, Rule] = {
    **{name: _unary(op) for name, op in _UNARY.items()},
    **{name: _binary(op) for name, op in _BINARY.items()},
    "add": _scaled("AddV2"), "sub": _scaled("Sub"), "div": _div, "clamp": _clamp,
    "hardtanh": lambda x, low=-1, high=1: _clamp(x, low, high), "gelu": _gelu, "elu": _elu,
    "leaky_relu": _leaky, "where": _where, "_to_copy": _cast, "sum": _reduced("Sum"),
    "mean": _reduced("Mean"), "amax": _reduced("Max"), "amin": _reduced("Min"),
    "prod": _reduced("Prod"), "any": _truth("Any"), "all": _truth("All"),
    "var": _variance, "argmax": _arg("ArgMax"),
    "argmin": _arg("ArgMin"), "mm": lambda a, b: make("MatMul", a, b),
    "bmm": lambda a, b: make("BatchMatMulV2", a, b), "addmm": _addmm,
    "_softmax": _softmax("Softmax"), "_log_softmax": _softmax("LogSoftmax"),
    "convolution": _convolution, "max_pool2d_with_indices": _max_pool, "avg_pool2d": _avg_pool,
    "_adaptive_avg_pool2d": _adaptive_avg_pool,
    "_native_batch_norm_legit_no_training": _batch_norm, "native_layer_norm": _layer_norm,
    "native_group_norm": _group_norm, "constant_pad_nd": _pad,
    "upsample_nearest2d": _upsample("ResizeNearestNeighbor"),
    "upsample_bilinear2d": _upsample("ResizeBilinear"), "permute": _permute,
    "transpose": _turned, "t": _turned, "view": _view, "reshape": _view, "_unsafe_view": _view,
    "expand": _expand, "sym_size": _size, "squeeze": _squeeze, "unsqueeze": _unsqueeze,
    "select": _select, "slice": _slice, "cat": _cat, "stack": _stack, "split": _split,
    "split_with_sizes": _split, "embedding": _embedding, "index": _index, "full": _full,
    "arange": _arange, "full_like": _full_like, "getitem": _item,
    "silu": lambda x: make("Mul", x, make("Sigmoid", x)),
}  # fmt: skip


# ---- the graph -----------------------------------------------------------------------------------


def import_torch(
    module: Any,
    args: Sequence[torch.Tensor],
    inputs: Sequence[Any] | None = None,
    dynamic_shapes: Any = None,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """Adds a torch module, or what ``torch.export`` has made of one, to the default graph.

    Args:
      module: a ``torch.nn.Module``, which is used as it evaluates, or an ``ExportedProgram``.
      args: example inputs; not needed for an ``ExportedProgram``.
      inputs: tensors for its inputs, in order; default: placeholders.
      dynamic_shapes: which dims may differ, as ``torch.export.export`` takes it.
      name: scope of the nodes.

    Returns:
      Inputs and outputs.  Parameters are variables, which the session must initialize.

    Raises:
      Unportable: an ATen operator has no rule.
    """
    program = module
    if isinstance(module, torch.nn.Module):
        program = torch.export.export(module.eval(), tuple(args), dynamic_shapes=dynamic_shapes)
    program = program.run_decompositions()
    with scopes.name_scope(name or "torch"):
        return _read(program, inputs)


def _read(program: Any, inputs: Sequence[Any] | None) -> tuple[list[Any], list[Any]]:
    state: Mapping[str, Any] = {**program.state_dict, **program.constants}
    signature = program.graph_signature
    targets = {
        **signature.inputs_to_parameters, **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }  # fmt: skip
    values: dict[Any, Any] = {}
    given = iter(inputs or ())
    taken: list[Any] = []
    outputs: list[Any] = []
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in targets:
            target = targets[node.name]
            kept = state[target].detach()
            trained = node.name in signature.inputs_to_parameters
            values[node] = _state(kept, target, trained)
        elif node.op == "placeholder":
            values[node] = _input(node, next(given, None))
            taken.append(values[node])
        elif node.op == "call_function":
            values[node] = _call(node, values)
        elif node.op == "output":
            outputs = [values[each] for each in node.args[0]]
        else:
            raise Unportable(f"{node.op} {node.name!r} is not imported")
    return taken, outputs


def _state(value: Any, name: str, trained: bool) -> Any:
    array = to_array(value)
    if not trained or array.dtype.kind != "f":
        return constant(array)
    return convert.convert_to_tensor(Variable(array, name=name.replace(".", "/")))


def _input(node: Any, given: Any) -> Any:
    if given is not None:
        return convert.convert_to_tensor(given)
    shown = node.meta["val"]
    dims = [size if isinstance(size, int) else None for size in shown.shape]
    return make("Placeholder", dtype=_DTYPES[shown.dtype], shape=dims, name=node.name)


def _call(node: Any, values: Mapping[Any, Any]) -> Any:
    if node.target is operator.getitem:
        name = "getitem"
    else:
        name = getattr(node.target, "_opname", str(node.target))
    rule = RULES.get(name)
    if rule is None:
        raise Unportable(f"{node.target} {node.name!r} is not imported: it has no rule")
    args = torch.fx.node.map_arg(node.args, values.__getitem__)
    kwargs = torch.fx.node.map_arg(node.kwargs, values.__getitem__)
    try:
        with scopes.name_scope(node.name):
            return rule(*args, **kwargs)
    except Unportable as error:
        raise Unportable(f"{node.target} {node.name!r} is not imported: {error}") from None
    except (ValueError, TypeError, KeyError) as error:
        raise Unportable(f"{node.target} {node.name!r} is not imported: {error}") from error
