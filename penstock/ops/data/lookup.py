"""Lookup tables in the graph: the ops that make them, fill them, and look keys up.

Most ops have two forms, rows of one table: version 2 names its table by a resource handle, the
older form by a reference to a string.  The state behind both is a ``resources.lookup_table``; this
module knows the files that fill one.  The classes that users see are ``data.lookup`` and its
neighbours.

Text files: one entry a line.  A column index of -1 is the number of the line (from 0), of -2 the
whole line; others count the columns between delimiters.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.lookup_table import (
    DenseTable,
    LookupTable,
    MutableTable,
    StaticTable,
)
from penstock.foundation.base import errors
from penstock.foundation.formats import files
from penstock.foundation.graph.handles import handles_of
from penstock.foundation.graph.operation import Operation
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, no_outputs, scalar
from penstock.foundation.opdef.shared_state import Request, SharedState
from penstock.ops.strings.string_elements import stored_type

_NO_GRADIENT = "looks up what steps have put in"
LINE_NUMBER, WHOLE_LINE = -1, -2


# ---- making tables -------------------------------------------------------------------------------


def _types(attrs: dict[str, Any]) -> tuple[Any, Any]:
    return stored_type(attrs["key_dtype"]), stored_type(attrs["value_dtype"])


def _static(attrs: dict[str, Any], name: str) -> LookupTable:
    return StaticTable(attrs["shared_name"] or name, *_types(attrs))


def _mutable(attrs: dict[str, Any], name: str) -> LookupTable:
    return MutableTable(attrs["shared_name"] or name, *_types(attrs))


def _of_vectors(attrs: dict[str, Any], name: str) -> LookupTable:
    dims = attrs["value_shape"].sizes
    if dims is None or len(dims) != 1:
        raise errors.invalid(f"Default value must be a vector, got shape {attrs['value_shape']}")
    return MutableTable(attrs["shared_name"] or name, *_types(attrs), dims)


def _dense(attrs: dict[str, Any], name: str) -> LookupTable:
    bounds = attrs["initial_num_buckets"], attrs["max_load_factor"]
    dims = attrs["value_shape"].sizes
    return DenseTable(attrs["shared_name"] or name, *_types(attrs), dims, *bounds)


def _reserve(state: DenseTable, empty_key: Any, deleted_key: Any) -> None:
    state.reserve(empty_key, deleted_key)


def _reserve_one(state: DenseTable, empty_key: Any) -> None:
    """The older form has no key for what is removed, and removes nothing."""
    other = np.array(b"\0deleted" + empty_key.item(), dtype=object) if isinstance(
        empty_key, np.ndarray
    ) else empty_key - 1  # fmt: skip
    state.reserve(empty_key, other)


def _dense_shape(ctx: ShapeContext) -> Dims:
    for name in ("empty_key", "deleted_key"):
        if name in ctx.op.inputs_by_name():
            dims = ctx[name]
            if dims is not None and len(dims) > 1:
                raise ValueError(f"{name} must have rank at most 1, but has shape {list(dims)}")
    return ()


def _mismatch(first: Request, asked: Request) -> str | None:
    """Tables of one name must be of one kind and have the same types."""
    kinds = [r.op_type.removesuffix("V2") for r in (first, asked)]
    if kinds[0] != kinds[1]:
        return f"table {asked.name!r} is a {kinds[0]}, not a {kinds[1]}"
    found, wanted = (
        f"{r.attrs['key_dtype'].name}->{r.attrs['value_dtype'].name}" for r in (first, asked)
    )
    if found != wanted:
        return f"Conflicting key/value dtypes {wanted} with {found} for table {asked.name}"
    return None


_SHARED = [
    'container: string = ""', 'shared_name: string = ""', "use_node_name_sharing: bool = False",
    "key_dtype: type", "value_dtype: type",
]  # fmt: skip
_VALUE_SHAPE = "value_shape: shape = []"
_BUCKETS = ["initial_num_buckets: int = 131072", "max_load_factor: float = 0.800000011920929"]
_MAKERS: list[tuple[str, list[str], Any]] = [
    # op type, further attrs, what makes it
    ("HashTable", [], _static),
    ("MutableHashTable", [], _mutable),
    ("MutableHashTableOfTensors", [_VALUE_SHAPE], _of_vectors),
]
_FORMS = [
    # suffix of the op type, dtype of a handle, the dims of a made handle
    ("", "Ref(string)", (2,)),
    ("V2", "resource", ()),
]


def _always(dims: Dims) -> Callable[[ShapeContext], Dims]:
    return lambda ctx: dims


for _name, _further, _make in _MAKERS:
    for _suffix, _handle, _dims in _FORMS:
        define_op(
            _name + _suffix,
            f"-> table_handle: {_handle}",
            attrs=[*_SHARED, *_further],
            shape=_always(_dims),
            state=SharedState("lookup table", _make, _mismatch),
            stateful=True,
            no_gradient=_NO_GRADIENT,
        )
for _suffix, _handle, _inputs, _kernel in (
    ("", "Ref(string)", "empty_key: key_dtype", _reserve_one),
    ("V2", "resource", "empty_key: key_dtype, deleted_key: key_dtype", _reserve),
):
    define_op(
        "MutableDenseHashTable" + _suffix,
        f"{_inputs} -> table_handle: {_handle}",
        attrs=[*_SHARED, _VALUE_SHAPE, *_BUCKETS],
        shape=_dense_shape if _suffix else _always((2,)),
        # It runs in each step, and the first tells the table its reserved keys.
        kernel=_kernel,
        state=SharedState("lookup table", _dense, _mismatch),
        stateful=True,
        effect=True,
        no_gradient=_NO_GRADIENT,
    )


# ---- text files ----------------------------------------------------------------------------------


def _lines(path: str, limit: int) -> Iterator[tuple[int, bytes]]:
    with files.open_file(path, "rb") as file:
        for number, line in enumerate(file):
            if number == limit:
                return
            yield number, line.removesuffix(b"\n").removesuffix(b"\r")


def _number(dtype: Any) -> Callable[[bytes], Any]:
    def whole(text: bytes) -> int:
        value = int(text)
        if b"_" in text or not torch.iinfo(dtype).min <= value <= torch.iinfo(dtype).max:
            raise ValueError
        return value

    if dtype in (torch.int32, torch.int64):
        return whole
    if dtype in (torch.float32, torch.float64):
        return float
    if dtype is object:
        return lambda text: text
    raise errors.invalid(f"Data type {str(dtype).removeprefix('torch.')} not supported.")


def _column(index: int, dtype: Any, what: str) -> Callable[[int, bytes, list[bytes]], Any]:
    """What takes a key or value out of line ``number``, ``line``, split into ``parts``."""
    name = "string" if dtype is object else str(dtype).removeprefix("torch.")
    if index == LINE_NUMBER:
        if dtype is not torch.int64:
            raise errors.invalid(
                f"{what} index for line number requires table {what.lower()} dtype of int64, got"
                f" {name}"
            )
        return lambda number, line, parts: number
    if index == WHOLE_LINE and dtype is not object and dtype is not torch.int64:
        raise errors.invalid(
            f"{what} index for whole line requires string or integer table {what.lower()}, got"
            f" {name}"
        )
    parse = _number(dtype)

    def take(number: int, line: bytes, parts: list[bytes]) -> Any:
        field = line if index == WHOLE_LINE else parts[index]
        try:
            return parse(field)
        except ValueError:
            raise errors.invalid(
                f"Field {field.decode('utf-8', 'backslashreplace')} in line {number} is not a"
                f" valid {name}."
            ) from None

    return take


def _values(values: list[Any], dtype: Any) -> Any:
    if dtype is object:
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made
    return torch.tensor(values, dtype=dtype)


def _from_text_file(
    table_handle: LookupTable,
    filename: Any,
    key_index: int,
    value_index: int,
    vocab_size: int,
    delimiter: str,
) -> None:
    sign = delimiter.encode() if isinstance(delimiter, str) else bytes(delimiter)
    if len(sign) != 1:
        raise errors.invalid(f"delimiter should be only 1 char; found {delimiter!r}")
    if not isinstance(table_handle, StaticTable):
        raise errors.invalid(f"Table {table_handle.name} is not initializable")
    path = os.fsdecode(filename.item())
    key = _column(key_index, table_handle.key_dtype, "Key")
    value = _column(value_index, table_handle.value_dtype, "Value")
    last = max(key_index, value_index)
    keys, values = [], []
    for number, line in _lines(path, vocab_size):
        if not line:
            raise errors.invalid(f"Invalid content in {path}: empty line found at line {number}.")
        parts = line.split(sign) if last >= 0 else []
        if last >= 0 and last >= len(parts):
            raise errors.invalid(
                f"Invalid number of columns in {path} line {number} ({line!r}): column {last} is"
                f" asked for, and there are {len(parts)}"
            )
        keys.append(key(number, line, parts))
        values.append(value(number, line, parts))
    if not keys:
        raise errors.OutOfRangeError(None, None, f"no line was read from {path}")
    if vocab_size >= 0 and len(keys) < vocab_size:
        raise errors.invalid(
            f"Invalid vocab_size in {path}: expected {vocab_size} but got {len(keys)}"
        )
    table_handle.initialize(
        _values(keys, table_handle.key_dtype), _values(values, table_handle.value_dtype)
    )


# ---- using them ----------------------------------------------------------------------------------


def _maker(ctx: ShapeContext) -> Operation | None:
    """The node that makes the table, where it is known while the graph is built."""
    found = handles_of(ctx.tensor("table_handle"))
    known = found and "value_dtype" in found[0].attrs
    return found[0] if known and found[0].type.endswith("V2") else None


def _value_dims(maker: Operation) -> Dims:
    shape = maker.attrs.get("value_shape")
    return () if shape is None else shape.sizes


def _found_shape(ctx: ShapeContext) -> Dims:
    maker, keys = _maker(ctx), ctx["keys"]
    if maker is not None:
        _check_types(ctx, maker)
    if maker is None or keys is None:
        return None
    one = maker.inputs[0].sizes if maker.inputs else ()
    value = _value_dims(maker)
    if one is None or value is None:
        return None
    return (*keys[: len(keys) - len(one)], *value)


def _check_types(ctx: ShapeContext, maker: Operation) -> None:
    found = ctx.attr("Tin"), ctx.attr("Tout")
    wanted = maker.attrs["key_dtype"], maker.attrs["value_dtype"]
    if found != wanted:
        raise ValueError(
            f"table {maker.name!r} has keys of {wanted[0].name} and values of {wanted[1].name};"
            f" found {found[0].name} and {found[1].name}"
        )


def _exported_shape(ctx: ShapeContext) -> list[Dims]:
    maker = _maker(ctx)
    value = None if maker is None else _value_dims(maker)
    return [(None,), None if value is None else (None, *value)]


def _import_shape(ctx: ShapeContext) -> list[Dims]:
    keys, values = ctx.rank_at_least("keys", 1), ctx.rank_at_least("values", 1)
    if keys is not None and values is not None and None not in (keys[0], values[0]):
        if keys[0] != values[0]:
            raise ValueError(f"there are {keys[0]} key(s) and {values[0]} value(s)")
    return []


def _entries_shape(ctx: ShapeContext) -> list[Dims]:
    keys, values = ctx.rank("keys", 1), ctx.rank("values", 1)
    if None not in (keys[0], values[0]) and keys[0] != values[0]:
        raise ValueError(f"there are {keys[0]} key(s) and {values[0]} value(s)")
    return []


def _remove_shape(ctx: ShapeContext) -> list[Dims]:
    return []


def _file_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("filename", 0)
    return []


_KEYS, _TYPES = ", keys: Tin", ["Tin: type", "Tout: type"]
_USES: list[tuple[str, str, str, list[str], Any, Any, bool]] = [
    # op type, inputs after the handle, outputs, attrs, shape rule, kernel, whether it changes it
    ("InitializeTable", ", keys: Tkey, values: Tval", "", ["Tkey: type", "Tval: type"],
     _entries_shape, "{table_handle}.initialize({keys}, {values})", True),
    ("InitializeTableFromTextFile", ", filename: string", "",
     ["key_index: int >= -2", "value_index: int >= -2", "vocab_size: int >= -1 = -1",
      'delimiter: string = "\\t"'], _file_shape, _from_text_file, True),
    ("LookupTableFind", _KEYS + ", default_value: Tout", "values: Tout", _TYPES,
     _found_shape, "{table_handle}.find({keys}, {default_value})", False),
    ("LookupTableInsert", _KEYS + ", values: Tout", "", _TYPES, no_outputs,
     "{table_handle}.insert({keys}, {values})", True),
    ("LookupTableImport", _KEYS + ", values: Tout", "", _TYPES, _import_shape,
     "{table_handle}.import_values({keys}, {values})", True),
    ("LookupTableExport", "", "keys: Tkeys, values: Tvalues", ["Tkeys: type", "Tvalues: type"],
     _exported_shape, "{table_handle}.export()", False),
    ("LookupTableSize", "", "size: int64", [], scalar,
     "torch.tensor({table_handle}.size())", False),
    ("LookupTableRemove", _KEYS, "", ["Tin: type"], _remove_shape,
     "{table_handle}.remove({keys})", True),
]  # fmt: skip

for _suffix, _handle, _ in _FORMS:
    for _name, _inputs, _outputs, _attrs, _shape, _kernel, _changes in _USES:
        if _name == "LookupTableRemove" and not _suffix:
            continue  # it came with handles
        define_op(
            _name + _suffix,
            f"table_handle: {_handle}{_inputs} -> {_outputs}".strip(),
            later=["offset: int = 0"] if _name == "InitializeTableFromTextFile" else (),
            attrs=_attrs,
            shape=_shape,
            kernel=_kernel,
            writes=("table_handle",) if _changes else (),
            reads=() if _changes else ("table_handle",),
            stateful=_suffix == "V2",
            no_gradient=_NO_GRADIENT,
        )
