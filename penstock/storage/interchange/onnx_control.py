"""ONNX rules: conditionals, loops, and the arrays that loops fill.

A TensorArray becomes one dense tensor, [size, element], which its *flow* stands for: a write gives
a new one, as in ONNX nothing is changed in place.  Dims of elements that are not known begin as 1,
and are widened by the first write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.region import inputs_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.interchange.onnx_writer import Array, Rule, Writer


def _is_array(tensor: Tensor) -> bool:
    return tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant, dtypes.string)


def _give(w: Writer, feed: Tensor, tensor: Tensor) -> None:
    """Lets what a block is fed stand for what is given."""
    if tensor in w.arrays:
        w.arrays[feed] = w.arrays[tensor]
        if feed.dtype.base_dtype is dtypes.resource:
            return
    w[feed] = w[tensor]


def write_all(w: Writer, step: StepGraph) -> None:
    """Writes the nodes of a step or block."""
    for op in step.operations:
        if op.op_def.role not in ("feed", "constant"):
            w.write(op)


def _type_of(w: Writer, name: str, tensor: Tensor) -> Any:
    return w.types.get(name, tensor.dtype.base_dtype)


def _branch(w: Writer, block: StepGraph, args: Sequence[Tensor], op: Operation) -> Any:
    with w.scope() as nodes:
        for feed, tensor in zip(block.feeds, args, strict=True):
            _give(w, feed, tensor)
        write_all(w, block)
        outputs = []
        for fetch, output in zip(block.fetches, op.outputs, strict=True):
            if fetch.op.op_def.role == "dead":
                name = w.number(0, output.dtype)
                kind = output.dtype.base_dtype
            else:
                name = w[fetch]
                kind = _type_of(w, name, fetch)
            made = w.node("Identity", name)
            w.types[made] = kind
            outputs.append(w.info(made, kind))
        return w.subgraph(nodes, op.name, [], outputs)


def _if(w: Writer, op: Operation) -> list[str]:
    inputs = inputs_of(op, op.inputs)
    sides = [_branch(w, block, inputs.args, op) for block in blocks_of(op)]
    names = w.nodes(
        "If", [w[inputs.first[0]]], len(op.outputs), then_branch=sides[0], else_branch=sides[1]
    )
    for name, output in zip(names, sides[0].output, strict=True):
        w.types[name] = w.types[output.name]
    return names


def _while(w: Writer, op: Operation) -> list[str]:
    inputs = inputs_of(op, op.inputs)
    condition, body = blocks_of(op)
    if any(t.dtype.base_dtype is dtypes.resource for t in inputs.first):
        raise ValueError("a handle is a variable of the loop")
    names = [w[t] for t in inputs.first]
    kinds = [_type_of(w, name, t) for name, t in zip(names, inputs.first, strict=True)]
    with w.scope() as nodes:
        first = _test(w, condition, names, kinds, inputs)
    w.extend(nodes)
    with w.scope() as nodes:
        given = [w.unique(f"{op.name}/variable") for _ in names]
        for name, kind in zip(given, kinds, strict=True):
            w.types[name] = kind
        _feed(w, body, given, inputs)
        write_all(w, body)
        following = [w.node("Identity", w[t]) for t in body.fetches]
        test = _test(w, condition, following, kinds, inputs)
        test = w.node("Identity", test)
        count, going = w.unique(f"{op.name}/round"), w.unique(f"{op.name}/going")
        graph = w.subgraph(
            nodes, op.name,
            [w.info(count, dtypes.int64, ()), w.info(going, dtypes.bool, ()),
             *(w.info(n, k) for n, k in zip(given, kinds, strict=True))],
            [w.info(test, dtypes.bool, ()),
             *(w.info(n, k) for n, k in zip(following, kinds, strict=True))],
        )  # fmt: skip
    made = w.nodes("Loop", ["", first, *names], len(names), body=graph)
    for name, kind in zip(made, kinds, strict=True):
        w.types[name] = kind
    return made


def _feed(w: Writer, block: StepGraph, names: list[str], inputs: Any) -> None:
    feeds = list(block.feeds)
    for feed, name, tensor in zip(feeds, names, inputs.first):
        w[feed] = name
        if tensor in w.arrays:
            w.arrays[feed] = w.arrays[tensor]
    for feed, tensor in zip(feeds[len(names) :], inputs.args, strict=True):
        _give(w, feed, tensor)


def _test(w: Writer, block: StepGraph, names: list[str], kinds: list[Any], inputs: Any) -> str:
    for name, kind in zip(names, kinds, strict=True):
        w.types[name] = kind
    _feed(w, block, names, inputs)
    write_all(w, block)
    return w[block.fetches[0]]


# ---- arrays --------------------------------------------------------------------------------------


def _array(w: Writer, op: Operation) -> list[str]:
    if op.attrs["dynamic_size"]:
        raise ValueError("the array may grow")
    shape = op.attrs["element_shape"]
    dims = None if shape is None else shape.sizes
    if dims is None:
        dims = w.written.get(op)
    dtype = op.attrs["dtype"].base_dtype
    count = w.value(op.inputs[0])
    w.arrays[op.outputs[0]] = Array(dtype, dims, None if count is None else int(count))
    if dims is None:
        return ["", w.number(0, dtypes.float32)]  # until it is written as a whole
    size = w.node("Reshape", w.long(op.inputs[0]), w.ints(1))
    inner = w.ints(*(1 if d is None else d for d in dims))
    made = w.node("Expand", w.number(0, dtype), w.node("Concat", size, inner, axis=0))
    w.types[made] = dtype
    return ["", made]


def note_written(w: Writer, step: StepGraph, made: dict[Tensor, Operation]) -> None:
    """Finds the dims of what is written to each array of a step.

    Args:
      w: takes what is found, in ``written``.
      step: the step, or a block of it.
      made: the node that made it, by an array's handle: as far as the blocks around tell.
    """
    for op in step.operations:
        if op.type == "TensorArrayV3":
            made[op.outputs[0]] = op
        elif op.type in ("TensorArrayWriteV3", "TensorArrayScatterV3") and op.inputs[0] in made:
            sizes, maker = op.inputs[2].sizes, made[op.inputs[0]]
            dims = sizes if sizes is None or "Write" in op.type else tuple(sizes[1:])
            w.written[maker] = _merged(w.written[maker], dims) if maker in w.written else dims
        for block in blocks_of(op):
            inputs = inputs_of(op, op.inputs)
            given = [*(inputs.first if op.op_def.role == "loop" else ()), *inputs.args]
            inner = {f: made[t] for f, t in zip(block.feeds, given, strict=True) if t in made}
            note_written(w, block, inner)


def _merged(one: Any, other: Any) -> Any:
    """Dims that both have; None for a dim in which they differ."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(a if a == b else None for a, b in zip(one, other, strict=True))


def _of(w: Writer, op: Operation) -> Array:
    found = w.arrays.get(op.inputs[0])
    if found is None:
        raise ValueError("its array is not known")
    return found


def _kept(w: Writer, name: str, array: Array) -> str:
    w.types[name] = array.dtype
    return name


def _place(w: Writer, index: Tensor) -> str:
    return w.node("Reshape", w.long(index), w.ints(1, 1))


def _write(w: Writer, op: Operation) -> str:
    _, index, value, flow = op.inputs
    array = _of(w, op)
    name, given = w[flow], w[value]
    if array.dims is None:
        raise ValueError("the shape of the elements of its array is not known")
    if None in array.dims:
        count = w.node("Slice", w.node("Shape", name), w.ints(0), w.ints(1))
        name = w.node("Expand", name, w.node("Concat", count, w.node("Shape", given), axis=0))
    row = w.node("Unsqueeze", given, w.ints(0))
    return _kept(w, w.node("ScatterND", name, _place(w, index), row), array)


def _read(w: Writer, op: Operation) -> str:
    _, index, flow = op.inputs
    return w.node("Gather", w[flow], w[index], axis=0)


def _gather(w: Writer, op: Operation) -> str:
    _, index, flow = op.inputs
    value = w.value(index)
    if value is not None and value.tolist() == list(range(_of(w, op).size or -1)):
        return w[flow]
    return w.node("Gather", w[flow], w[index], axis=0)


def _scatter(w: Writer, op: Operation) -> str:
    _, index, value, flow = op.inputs
    array = _of(w, op)
    given = w[value]
    if array.dims is None or None in array.dims:
        # Rows from the first on: the array as a whole.
        return _kept(w, w.node("Identity", given), array)
    rows = w.node("Unsqueeze", w.long(index), w.ints(-1))
    return _kept(w, w.node("ScatterND", w[flow], rows, given), array)


def _array_size(w: Writer, op: Operation) -> str:
    count = w.node("Gather", w.node("Shape", w[op.inputs[1]]), w.const(np.int64(0)), axis=0)
    return w.short(count, op.outputs[0].dtype.base_dtype)


def _nothing(w: Writer, op: Operation) -> None:
    return None


# ---- lists ---------------------------------------------------------------------------------------


def _list(w: Writer, op: Operation) -> str:
    shape, size = op.inputs
    dims = w.value(shape)
    if dims is None or dims.ndim == 0:
        raise ValueError("the shape of its elements is not known")
    dtype = op.attrs["element_dtype"].base_dtype
    known = tuple(None if d < 0 else int(d) for d in dims.tolist())
    w.arrays[op.outputs[0]] = Array(dtype, known)
    count = w.node("Reshape", w.long(size), w.ints(1))
    inner = w.ints(*(1 if d is None else d for d in known))
    made = w.node("Expand", w.number(0, dtype), w.node("Concat", count, inner, axis=0))
    w.types[made] = dtype
    return made


def _list_of(w: Writer, op: Operation) -> str:
    tensor = op.inputs[0]
    dtype = op.attrs["element_dtype"].base_dtype
    sizes = tensor.sizes
    w.arrays[op.outputs[0]] = Array(dtype, None if sizes is None else tuple(sizes[1:]))
    made = w.node("Identity", w[tensor])
    w.types[made] = dtype
    return made


def _list_set(w: Writer, op: Operation) -> str:
    handle, index, item = op.inputs
    kind = w.types[w[handle]]
    name, given = w[handle], w[item]
    count = w.node("Slice", w.node("Shape", name), w.ints(0), w.ints(1))
    name = w.node("Expand", name, w.node("Concat", count, w.node("Shape", given), axis=0))
    row = w.node("Unsqueeze", given, w.ints(0))
    made = w.node("ScatterND", name, _place(w, index), row)
    w.types[made] = kind
    return made


def _list_get(w: Writer, op: Operation) -> str:
    return w.node("Gather", w[op.inputs[0]], w[op.inputs[1]], axis=0)


def _list_stack(w: Writer, op: Operation) -> str:
    return w[op.inputs[0]]


def _list_length(w: Writer, op: Operation) -> str:
    count = w.node("Gather", w.node("Shape", w[op.inputs[0]]), w.const(np.int64(0)), axis=0)
    return w.short(count, dtypes.int32)


RULES: dict[str, Rule] = {
    "_If": _if,
    "_While": _while,
    "TensorArrayV3": _array,
    "TensorArrayWriteV3": _write,
    "TensorArrayReadV3": _read,
    "TensorArrayGatherV3": _gather,
    "TensorArrayScatterV3": _scatter,
    "TensorArraySizeV3": _array_size,
    "TensorArrayCloseV3": _nothing,
    "TensorListReserve": _list,
    "TensorListFromTensor": _list_of,
    "TensorListSetItem": _list_set,
    "TensorListGetItem": _list_get,
    "TensorListStack": _list_stack,
    "TensorListLength": _list_length,
}
