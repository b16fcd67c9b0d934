"""Writing and reading checkpoints as ops: SaveV2, RestoreV2 and the older forms.

Saving hands the writer NumPy views of the variables' own memory, whatever its strides: no second
copy of the model is made.  Restoring reads one tensor at a time where its only use is to be
assigned: ``RestoreV2`` then gives a ``Pending``, which the variable makes the writer of its value,
so that at no time more than one tensor is held twice.  All keys, dtypes and shapes are looked at
before the first byte is read.

State: none; the files are the state.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.pending import Pending, Spare
from penstock.foundation.base import dtypes, errors
from penstock.foundation.formats import files
from penstock.foundation.formats.bundle import BundleWriter, merge_bundles
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.formats.checkpoint_v1 import V1Writer
from penstock.foundation.formats.safetensors_file import SafetensorsWriter
from penstock.foundation.formats.tensor_slice import TensorSlice, parse_spec
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, scalar
from penstock.foundation.opdef.program_text import literal

_FILES = "its inputs are names of files and what is written to them"
# How many missing keys an error spells out, and with how many near names each.
_KEYS_SHOWN, _NEAR_SHOWN = 20, 3


def as_array(value: Any) -> np.ndarray:
    """A view of a run-time value as a NumPy array; copies only what is not in host memory."""
    if not isinstance(value, torch.Tensor):
        typed = isinstance(value, np.ndarray) and value.dtype.fields
        return value if typed else np.asarray(value, dtype=object)  # type: ignore[no-any-return]
    value = value.detach().cpu().resolve_conj().resolve_neg()
    if value.dtype is torch.bfloat16:
        bits: np.ndarray = value.view(torch.int16).numpy()
        return bits.view(dtypes.bfloat16.as_numpy_dtype)
    return value.numpy()


def quantized(value: Any, kind: str) -> np.ndarray:
    """A run-time value as an array that says its quantized type, as checkpoints have it.

    Args:
      value: a tensor of the integers, or an array of them.
      kind: the name of the type: "qint8".
    """
    array = value if isinstance(value, np.ndarray) else as_array(value)
    return array.view(dtypes.as_dtype(kind).as_numpy_dtype)


def _text(value: Any) -> str:
    item = value.item() if isinstance(value, np.ndarray) else value
    return os.fsdecode(item) if isinstance(item, bytes) else str(item)


def _texts(values: np.ndarray) -> list[str]:
    return [_text(v) for v in np.asarray(values, dtype=object).ravel()]


# ---- saving ----------------------------------------------------------------------------------


def write_tensors(
    writer: Any, names: Sequence[str], specs: Sequence[str], arrays: Sequence[Any]
) -> None:
    """Writes tensors and slices of tensors with a writer of any format, and finishes it.

    Args:
      writer: a ``BundleWriter``, ``V1Writer`` or ``SafetensorsWriter``.
      names: one name a tensor.
      specs: one slice a tensor; ``""`` for whole tensors.
      arrays: their values.
    """
    with writer:
        for name, spec, array in zip(names, specs, arrays, strict=True):
            if spec:
                full, piece = parse_spec(spec)
                writer.add_slice(name, full, piece, array)
            else:
                writer.add(name, array)


def writer_of(format: str, prefix: str, threads: int | None = None, durable: bool = False) -> Any:
    """The writer of a format: ``"bundle"``, ``"v1"`` or ``"safetensors"``.

    Args:
      format: the format's name.
      prefix: the checkpoint's name.
      threads: how many write large tensors; default as many as there are cores, up to four.
      durable: whether finishing waits until all is on the disk.
    """
    _make_directory(prefix)
    files.sweep_temporaries(os.path.dirname(prefix))
    if format == "safetensors":
        return SafetensorsWriter(prefix, durable, threads)
    return V1Writer(prefix, durable) if format == "v1" else BundleWriter(prefix, durable, threads)


def _make_directory(prefix: str) -> None:
    """Makes the directory of a checkpoint where only that one is missing, as TensorFlow does."""
    directory = os.path.dirname(prefix)
    if directory and not files.isdir(directory) and files.isdir(os.path.dirname(directory) or "."):
        files.makedirs(directory)


def _check_counts(names: list[str], specs: list[str], count: int) -> None:
    if len(names) != count or len(specs) != count:
        raise errors.invalid(
            f"{count} tensor(s) were given with {len(names)} name(s) and {len(specs)} slice(s)"
        )


def _save(
    format: str, target: Any, names: Any, specs: Any, tensors: Any, durable: bool = False
) -> None:
    listed = _texts(names)
    slices = [""] * len(listed) if specs is None else _texts(specs)
    _check_counts(listed, slices, len(tensors))
    writer = writer_of(format, _text(target), durable=durable)
    # A generator: a tensor on a device is fetched when it is its turn.
    write_tensors(writer, listed, slices, _Arrays(tensors))


class _Arrays(Sequence[np.ndarray]):
    """Run-time values as arrays, made one at a time."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: Any) -> Any:
        return as_array(self._values[index])


def save_as(
    format: str, prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: Any, durable: bool
) -> None:
    """The kernel of a ``SaveV2`` or ``SaveSlices`` whose attrs say more than TensorFlow's.

    These are ``_format`` ("safetensors") and ``_durable``.
    """
    _save(format, prefix, tensor_names, shape_and_slices, tensors, durable)


def _save_v2(prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: Any) -> None:
    _save("bundle", prefix, tensor_names, shape_and_slices, tensors)


def _tensors(call: Any) -> tuple[str, bool]:
    """Source of the tensors to save, and whether some are quantized: those say their types."""
    name = call.op.op_def.inputs[-1].name
    parts, typed = list(call.arg[name]), False
    for at, tensor in enumerate(call.tensors[name]):
        if tensor.dtype.is_quantized:
            dtype = literal(tensor.dtype.base_dtype.name)
            parts[at] = f"{call.function(quantized)}({parts[at]}, {dtype})"
            typed = True
    return f"[{', '.join(parts)}]", typed


def _save_in_format(call: Any) -> str | None:
    safetensors = _text(call.op.attrs.get("_format", b"")) == "safetensors"
    return _saving(call, "safetensors" if safetensors else "bundle")


def _save_slices_in_format(call: Any) -> str | None:
    return _saving(call, "v1")


def _saving(call: Any, format: str) -> str | None:
    """The call of ``save_as``; None where the op's own kernel does the same."""
    durable = call.op.attrs.get("_durable", False) is True
    tensors, typed = _tensors(call)
    if format != "safetensors" and not (typed or durable):
        return None
    operands = [call.arg[one.name] for one in call.op.op_def.inputs[:-1]]
    given = f"{', '.join(operands)}, {tensors}, {literal(durable)}"
    return f"{call.function(save_as)}({literal(format)}, {given})"


def _save_quantized(call: Any) -> str | None:
    """The call of a saving op's kernel where a tensor is quantized."""
    tensors, typed = _tensors(call)
    if not typed:
        return None
    operands = [call.arg[one.name] for one in call.op.op_def.inputs[:-1]]
    kernel = call.op.op_def.kernel
    return f"{call.function(kernel)}({', '.join(operands)}, {tensors})"


def _save_slices(filename: Any, tensor_names: Any, shapes_and_slices: Any, data: Any) -> None:
    _save("v1", filename, tensor_names, shapes_and_slices, data)


def _save_whole(filename: Any, tensor_names: Any, data: Any) -> None:
    _save("v1", filename, tensor_names, None, data)


def _ranks(**wanted: int) -> Any:
    """A rule for ops without outputs that checks ranks."""

    def rule(ctx: ShapeContext) -> list[Dims]:
        for name, rank in wanted.items():
            ctx.rank(name, rank)
        return []

    return rule


def _saved(names: str, specs: str | None, tensors: str) -> Any:
    """A rule that wants as many names (and slices) as tensors."""

    def rule(ctx: ShapeContext) -> list[Dims]:
        ctx.rank(ctx.op.op_def.inputs[0].name, 0)
        count = len(ctx[tensors])
        for name in (names, specs):
            if name is not None and ctx.rank(name, 1)[0] not in (None, count):
                raise ValueError(f"{name} must have {count} element(s), one a tensor")
        return []

    return rule


define_op(
    "SaveV2",
    "prefix: string, tensor_names: string, shape_and_slices: string, tensors: list(dtypes) ->",
    attrs=["dtypes: list(type) >= 1"],
    shape=_saved("tensor_names", "shape_and_slices", "tensors"),
    kernel=_save_v2,
    inline=_save_in_format,
    stateful=True,
    effect=True,
    no_gradient=_FILES,
)
define_op(
    "SaveSlices",
    "filename: string, tensor_names: string, shapes_and_slices: string, data: list(T) ->",
    attrs=["T: list(type) >= 1"],
    shape=_saved("tensor_names", "shapes_and_slices", "data"),
    kernel=_save_slices,
    inline=_save_slices_in_format,
    stateful=True,
    effect=True,
    no_gradient=_FILES,
)
define_op(
    "Save",
    "filename: string, tensor_names: string, data: list(T) ->",
    attrs=["T: list(type) >= 1"],
    shape=_saved("tensor_names", None, "data"),
    kernel=_save_whole,
    inline=_save_quantized,
    stateful=True,
    effect=True,
    no_gradient=_FILES,
)


def merge_as(
    checkpoint_prefixes: Any, destination_prefix: Any, delete_old_dirs: bool, durable: bool
) -> None:
    """The kernel of a ``MergeV2Checkpoints`` whose ``_durable`` says something."""
    prefixes, merged = _texts(checkpoint_prefixes), _text(destination_prefix)
    try:
        merge_bundles(prefixes, merged, delete_old_dirs, durable)
    except errors.NotFoundError as error:  # as TensorFlow: the op was given a wrong prefix
        raise errors.invalid(error.message) from error


def _merge(checkpoint_prefixes: Any, destination_prefix: Any, delete_old_dirs: bool) -> None:
    merge_as(checkpoint_prefixes, destination_prefix, delete_old_dirs, False)


def _merge_durably(call: Any) -> str | None:
    if call.op.attrs.get("_durable", False) is not True:
        return None
    operands = [call.arg[one.name] for one in call.op.op_def.inputs]
    delete = literal(call.attr("delete_old_dirs"))
    return f"{call.function(merge_as)}({', '.join(operands)}, {delete}, {literal(True)})"


define_op(
    "MergeV2Checkpoints",
    "checkpoint_prefixes: string, destination_prefix: string ->",
    attrs=["delete_old_dirs: bool = true"],
    shape=_ranks(checkpoint_prefixes=1, destination_prefix=0),
    kernel=_merge,
    inline=_merge_durably,
    stateful=True,
    effect=True,
    no_gradient=_FILES,
    later=["allow_missing_files: bool = false"],
)


# ---- restoring -------------------------------------------------------------------------------


def missing_keys(asked: Sequence[str], there: Sequence[str], where: str) -> errors.NotFoundError:
    """The error that names the keys a checkpoint lacks, each with the nearest that it has."""
    return errors.NotFoundError(
        None, None,
        f"Key {asked[0]} not found in checkpoint {where}, which has {len(there)};"
        f" {len(asked)} asked for {'is' if len(asked) == 1 else 'are'} missing:\n"
        + nearest_keys(asked, there),
    )  # fmt: skip


def nearest_keys(asked: Sequence[str], there: Sequence[str]) -> str:
    """Lines of the keys that a checkpoint lacks, each with the nearest that it has."""
    lines = []
    for key in asked[:_KEYS_SHOWN]:
        near = difflib.get_close_matches(key, there, _NEAR_SHOWN)
        lines.append(f"  {key}" + (f" (the nearest are {', '.join(near)})" if near else ""))
    if len(asked) > _KEYS_SHOWN:
        lines.append(f"  and {len(asked) - _KEYS_SHOWN} more")
    return "\n".join(lines)


class _Wanted:
    """One tensor or slice to restore: checked when made, read when asked for."""

    def __init__(self, reader: Any, name: str, spec: str, dtype: dtypes.DType) -> None:
        self._reader, self._name = reader, name
        self._piece: TensorSlice | None = None
        held, full = reader.dtype(name), tuple(reader.shape(name))
        # What is no tensor (an iterator's position) is saved as its bytes.
        if held.base_dtype is not (dtypes.string if dtype is dtypes.variant else dtype):
            raise errors.invalid(
                f"tensor_name = {name}; expected dtype {dtypes.message_name(dtype.name)} does not"
                f" equal original dtype {dtypes.message_name(held.name)}"
            )
        self.dims = full
        if spec:
            asked, self._piece = parse_spec(spec)
            if asked != full:
                raise errors.invalid(
                    f"tensor_name = {name}; shape in shape_and_slice spec {list(asked)} does not"
                    f" match the shape stored in checkpoint: {list(full)}"
                )
            self.dims = self._piece.shape(full)
        self.dtype = dtype

    def value(self) -> Any:
        if self.dtype in (dtypes.string, dtypes.variant):
            return np.asarray(self._array(None), dtype=object)
        return self._into(Spare().empty(self.dims, self._torch_dtype))

    @property
    def _torch_dtype(self) -> torch.dtype:
        return getattr(torch, dtypes.stored_as(self.dtype).name)

    def _into(self, made: torch.Tensor) -> torch.Tensor:
        self._array(as_array(made))
        return made

    def _array(self, into: np.ndarray | None) -> np.ndarray:
        if self._piece is None:
            return self._reader.read(self._name, into)
        part: np.ndarray = self._reader.read_slice(self._name, self._piece)
        if into is not None:
            into[...] = part
        return part

    def pending(self, spare: Spare) -> Any:
        if self.dtype in (dtypes.string, dtypes.variant):
            return self.value()
        return Pending(self.dims, self._torch_dtype, self._into, spare)


def restore_tensors(
    prefix: Any, tensor_names: Any, shape_and_slices: Any, types: Any, deferred: Any
) -> list[Any]:
    """Reads tensors of a checkpoint of any format.

    Args:
      prefix: string scalar: the checkpoint.
      tensor_names: strings: their keys.
      shape_and_slices: strings: a slice each, or ``""``.
      types: the names of the dtypes.
      deferred: a bool each: whether to give a ``Pending`` instead of the value.

    Returns:
      One value a name.

    Raises:
      tf.errors.NotFoundError: no such checkpoint, or keys that it lacks: all of them are named.
      tf.errors.InvalidArgumentError: a dtype or shape differs.
      tf.errors.DataLossError: a file is damaged.
    """
    path, names, specs = _text(prefix), _texts(tensor_names), _texts(shape_and_slices)
    _check_counts(names, specs, len(types))
    reader = open_checkpoint(path)
    there = reader.names()
    known = set(there)
    missing = list(dict.fromkeys(n for n in names if n not in known))
    if missing:
        raise missing_keys(missing, there, path)
    wanted = [
        _Wanted(reader, name, spec, dtypes.as_dtype(kind))
        for name, spec, kind in zip(names, specs, types, strict=True)
    ]
    spare = Spare()
    return [
        w.pending(spare) if later else w.value() for w, later in zip(wanted, deferred, strict=True)
    ]


def _only_assigned(call: Any, tensor: Any) -> bool:
    """Whether all that happens to a tensor is being assigned to variables."""
    uses = call.uses(tensor)
    for consumer in uses:
        if consumer.type in ("Assign", "AssignVariableOp"):
            continue
        if not consumer.op_def.passes_through or not _only_assigned(call, consumer.outputs[0]):
            return False
    return bool(uses)


def _restore_call(call: Any, names: list[str], types: list[dtypes.DType]) -> str:
    operands = ", ".join(call.arg[name] for name in names)
    later = [_only_assigned(call, t) for t in call.op.outputs]
    wanted = literal([t.name for t in types])
    return f"{call.function(restore_tensors)}({operands}, {wanted}, {literal(later)})"


def _restore_v2_source(call: Any) -> str:
    names = ["prefix", "tensor_names", "shape_and_slices"]
    return _restore_call(call, names, call.attr("dtypes"))


def _restore_v2_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("prefix", 0)
    asked, slices = ctx.rank("tensor_names", 1)[0], ctx.rank("shape_and_slices", 1)[0]
    if None not in (asked, slices) and asked != slices:
        raise ValueError(f"{asked} name(s) of tensors were given with {slices} slice(s)")
    count = len(ctx.attr("dtypes"))
    specs = ctx.value("shape_and_slices")
    if specs is None or len(specs) != count:
        return [None] * count
    return [_spec_dims(_text(spec)) for spec in specs]


def _spec_dims(spec: str) -> Dims:
    if not spec:
        return None
    try:
        full, piece = parse_spec(spec)
        return piece.shape(full)
    except errors.InvalidArgumentError as error:
        raise ValueError(error.message) from None


define_op(
    "RestoreV2",
    "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: list(dtypes)",
    attrs=["dtypes: list(type) >= 1"],
    shape=_restore_v2_shape,
    inline=_restore_v2_source,
    stateful=True,
    no_gradient=_FILES,
)


def _restored_slice_shape(ctx: ShapeContext) -> Dims:
    spec = ctx.value("shape_and_slice")
    return None if spec is None else _spec_dims(_text(spec))


def _restore_one(file_pattern: Any, tensor_name: Any, shape_and_slice: Any, kind: str) -> Any:
    return restore_tensors(file_pattern, tensor_name, shape_and_slice, [kind], [False])[0]


def _restore_source(call: Any) -> str:
    arg, kind = call.arg, call.attr("dt").name
    spec = arg.get("shape_and_slice", "b''")
    operands = f"{arg['file_pattern']}, {arg['tensor_name']}, {spec}, {literal(kind)}"
    return f"{call.function(_restore_one)}({operands})"


define_op(
    "Restore",
    "file_pattern: string, tensor_name: string -> tensor: dt",
    attrs=["dt: type", "preferred_shard: int = -1"],
    shape=lambda ctx: None,
    inline=_restore_source,
    stateful=True,
    no_gradient=_FILES,
)
define_op(
    "RestoreSlice",
    "file_pattern: string, tensor_name: string, shape_and_slice: string -> tensor: dt",
    attrs=["dt: type", "preferred_shard: int = -1"],
    shape=_restored_slice_shape,
    inline=_restore_source,
    stateful=True,
    no_gradient=_FILES,
)


# ---- names of shards -------------------------------------------------------------------------


def _one(text: str) -> np.ndarray:
    result = np.empty((), dtype=object)
    result[()] = os.fsencode(text)
    return result


def _sharded_filename(basename: Any, shard: int, num_shards: int) -> np.ndarray:
    return _one(f"{_text(basename)}-{shard:05d}-of-{num_shards:05d}")


def _sharded_filespec(basename: Any, num_shards: int) -> np.ndarray:
    return _one(f"{_text(basename)}-?????-of-{num_shards:05d}")


define_op(
    "ShardedFilename",
    "basename: string, shard: int32, num_shards: int32 -> filename: string",
    shape=scalar,
    kernel=_sharded_filename,
    host=("shard", "num_shards"),
    no_gradient=_FILES,
)
define_op(
    "ShardedFilespec",
    "basename: string, num_shards: int32 -> filename: string",
    shape=scalar,
    kernel=_sharded_filespec,
    host=("num_shards",),
    no_gradient=_FILES,
)
