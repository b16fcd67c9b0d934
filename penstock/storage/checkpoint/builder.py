"""The nodes of a saver: what saves and restores, as a graph that any session can run.

For variables ``a`` and ``b``::

    save/filename   default "model"            save/RestoreV2     all tensors at once
    save/Const      what is fed: the prefix    save/Assign        a variable each
    save/SaveV2     writes the files           save/restore_all   after all assignments
    save/control_dependency   the prefix, after writing

A sharded saver has one SaveV2 and one RestoreV2 a device, and merges what it wrote.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.saver_pb2 import SaverDef

from penstock.foundation.base import dtypes
from penstock.foundation.base.devices import DeviceSpec, canonical_name
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import constant, shape as shape_ops
from penstock.ops.control import control
from penstock.ops.strings.string_join import string_join
from penstock.storage.checkpoint.management import V1, V2
from penstock.storage.checkpoint.saveable import SaveableObject, SaveSpec, saveables_for

Grouped = list[tuple[str, list[SaveableObject]]]


class BulkSaverBuilder:
    """Adds the nodes of a saver to the default graph; a subclass may change how.

    Args:
      write_version: ``SaverDef.V1`` or ``SaverDef.V2``.
      format: ``"bundle"`` or ``"safetensors"``; what ``SaveV2`` writes.
      durable: whether saving waits until all is on the disk.
    """

    _write_version = V2
    _format = "bundle"
    _durable = False

    def __init__(
        self, write_version: int = V2, format: str = "bundle", durable: bool = False
    ) -> None:
        self._write_version = write_version
        self._format = format
        self._durable = durable

    # ---- saving --------------------------------------------------------------------------------

    def save_op(self, filename_tensor: Tensor, saveables: Sequence[SaveableObject]) -> Any:
        """The op that writes ``saveables``."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        tensors = [spec.tensor for spec in specs]
        names, slices = [s.name for s in specs], [s.slice_spec for s in specs]
        extra: dict[str, Any] = {"_durable": True} if self._durable else {}
        if self._write_version == V1:
            return make("SaveSlices", filename_tensor, names, slices, tensors, name="save", **extra)
        if self._format != "bundle":
            extra["_format"] = self._format.encode()
        return make("SaveV2", filename_tensor, names, slices, tensors, **extra)

    def _save(self, filename_tensor: Tensor, saveables: Sequence[SaveableObject]) -> Tensor:
        written = self.save_op(filename_tensor, saveables)
        saved: Tensor = control.with_dependencies([written], filename_tensor)
        return saved

    def save_sharded(self, filename_tensor: Tensor, groups: Grouped) -> Tensor:
        merged = self._write_version != V1
        base = filename_tensor
        if merged:
            # The shards are bundles of their own until they are merged.
            base = string_join([filename_tensor, f"_temp_{uuid.uuid4().hex}/part"])
        count = constant.constant(len(groups), name="num_shards")
        written, names = [], []
        for shard, (device, saveables) in enumerate(groups):
            with scopes.device(_on_cpu(device) if merged else device):
                names.append(make("ShardedFilename", base, shard, count))
                written.append(self._save(names[-1], saveables))
        with scopes.control_dependencies([tensor.op for tensor in written]):
            if not merged:
                return make_tensor("ShardedFilespec", filename_tensor, count)
            with scopes.device(_on_cpu(groups[-1][0])):
                merge = self._merge(names, filename_tensor)
                with scopes.control_dependencies([merge]):
                    done: Tensor = make("Identity", filename_tensor)
        return done

    def _merge(self, names: list[Tensor], filename_tensor: Tensor) -> Any:
        extra: dict[str, Any] = {"_durable": True} if self._durable else {}
        with scopes.name_scope("MergeV2Checkpoints") as scope:
            packed = make("Pack", names, name="checkpoint_prefixes")
        return make(
            "MergeV2Checkpoints", packed, filename_tensor, delete_old_dirs=True, name=scope,
            **extra,
        )  # fmt: skip

    # ---- restoring -----------------------------------------------------------------------------

    def bulk_restore(
        self, filename_tensor: Tensor, saveables: Sequence[SaveableObject], preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Tensor]:  # fmt: skip
        """The tensors of all specs, in order, read by one op."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with scopes.device("CPU:0"):
            tensors: list[Tensor] = make(
                "RestoreV2", filename_tensor, [s.name for s in specs],
                [s.slice_spec for s in specs], dtypes=[s.dtype.base_dtype for s in specs],
            )  # fmt: skip
        return tensors

    def _restore(
        self, filename_tensor: Tensor, saveables: Sequence[SaveableObject], reshape: bool,
        restore_sequentially: bool, name: str, shard: int = -1,
    ) -> Any:  # fmt: skip
        tensors = self.bulk_restore(filename_tensor, saveables, shard, restore_sequentially)
        assigned = []
        position = 0
        for saveable in saveables:
            count = len(saveable.specs)
            shapes = [_shape_of(spec.tensor) for spec in saveable.specs] if reshape else None
            assigned.append(saveable.restore(tensors[position : position + count], shapes))
            position += count
        return control.group(*assigned, name=name)

    def _restore_sharded(
        self, filename_tensor: Tensor, groups: Grouped, reshape: bool, restore_sequentially: bool
    ) -> Any:
        restored = []
        for shard, (device, saveables) in enumerate(groups):
            with scopes.device(device):
                restored.append(
                    self._restore(
                        filename_tensor, saveables, reshape, restore_sequentially,
                        "restore_shard", shard,
                    )
                )  # fmt: skip
        return control.group(*restored, name="restore_all")

    # ---- the whole -------------------------------------------------------------------------------

    def build(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
    ) -> Any:
        """Adds the nodes.

        Args:
          names_to_saveables: a dict of variables by name, or a list of them.
          reshape .. filename: as for ``Saver``.

        Returns:
          The ``SaverDef`` that names them.
        """
        saveables = saveables_for(names_to_saveables)
        with scopes.name_scope(name, "save", [s.op for s in saveables]):
            default = make("PlaceholderWithDefault", filename or "model", shape=(), name="filename")
            target = make("PlaceholderWithDefault", default, shape=(), name="Const")
            if sharded:
                groups = by_device(saveables)
                saved = self.save_sharded(target, groups)
                restored = self._restore_sharded(target, groups, reshape, restore_sequentially)
            else:
                saved = self._save(target, saveables)
                restored = self._restore(
                    target, saveables, reshape, restore_sequentially, "restore_all"
                )
        return SaverDef(
            filename_tensor_name=target.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )


class BaseSaverBuilder(BulkSaverBuilder):
    """``BulkSaverBuilder`` with the classes that savers of packages name by it."""

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject


def by_device(saveables: Sequence[SaveableObject]) -> Grouped:
    """Saveables in groups of one device each, in order of the devices' names.

    Raises:
      ValueError: the tensors of one saveable are on several devices.
    """
    groups: dict[str, list[SaveableObject]] = {}
    for saveable in saveables:
        places = {canonical_name(spec.tensor.device) for spec in saveable.specs}
        if len(places) != 1:
            raise ValueError(
                f"the tensors of {saveable.name!r} must be on one device; found {sorted(places)}"
            )
        groups.setdefault(places.pop(), []).append(saveable)
    return sorted(groups.items())


def _on_cpu(device: str) -> str:
    spec = DeviceSpec.from_string(device)
    cpu = DeviceSpec(
        job=spec.job, replica=spec.replica, task=spec.task, device_type="CPU", device_index=0
    )
    return cpu.to_string()


def _shape_of(tensor: Any) -> Any:
    shape = tensor.get_shape()
    return shape if shape.is_fully_defined() else shape_ops.shape(tensor, out_type=dtypes.int32)
