"""Which slice of a larger variable a variable holds, and names in its protobuf form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto import variable_pb2


class SaveSliceInfo:
    """Says which slice of a larger, partitioned variable a variable holds.

    Args:
      full_name: name of the larger variable.
      full_shape: its shape.
      var_offset: where the slice begins, one int a dim.
      var_shape: the slice's shape.
      save_slice_info_def: a ``SaveSliceInfoDef`` to read the above from instead.
      import_scope: prefix of ``full_name`` when read from the message.
    """

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if save_slice_info_def is not None:
            message = save_slice_info_def
            self.full_name: str | None = with_scope(message.full_name, import_scope)
            self.full_shape: Sequence[int] | None = list(message.full_shape)
            self.var_offset: Sequence[int] | None = list(message.var_offset)
            self.var_shape: Sequence[int] | None = list(message.var_shape)
            return
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """``"<full shape> <offset>,<length>:..."``, the form that checkpoints use."""
        full = " ".join(str(d) for d in self.full_shape or ())
        parts = zip(self.var_offset or (), self.var_shape or (), strict=True)
        return f"{full} " + ":".join(f"{offset},{size}" for offset, size in parts)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """This as a ``SaveSliceInfoDef``; None when it is outside ``export_scope``."""
        name = self.full_name or ""
        if export_scope and not name.startswith(export_scope):
            return None
        return variable_pb2.SaveSliceInfoDef(
            full_name=without_scope(name, export_scope),
            full_shape=list(self.full_shape or ()),
            var_offset=list(self.var_offset or ()),
            var_shape=list(self.var_shape or ()),
        )


def with_scope(name: str, scope: str | None) -> str:
    """``name`` under ``scope``."""
    return f"{scope.rstrip('/')}/{name}" if scope else name


def without_scope(name: str, scope: str | None) -> str:
    """``name`` with a leading ``scope/`` taken off."""
    return name.removeprefix(scope.rstrip("/") + "/") if scope else name
