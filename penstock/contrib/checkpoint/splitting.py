"""``split_dependency``: tensors of a checkpoint that are saved and restored together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.auto_trackable import Trackable
from penstock.ops.control import control
from penstock.storage.checkpoint import object_graph
from penstock.storage.checkpoint.saveable import SaveableObject, SaveSpec

Fill = Callable[[dict[str, Any]], Any]


class _Shared:
    """What the parts share: the tensors that were made for saving, those that came back."""

    def __init__(self, count: int, fill: Fill, consume: Fill, device: str) -> None:
        self.count, self.fill, self.consume, self.device = count, fill, consume, device
        self.saving: dict[str, Any] = {}
        self.restoring: dict[str, Any] = {}


class _Part(Trackable):
    """One of the tensors."""

    _checkpoint_attribute = object_graph.VALUE
    _shared_name = ""

    def __init__(self, name: str, dtype: Any, shared: _Shared) -> None:
        self._name, self._dtype, self._shared = name, dtype, shared

    def _component_saveables(self, name: str) -> SaveableObject:
        return _Saveable(self, self._name, self._dtype, self._shared, name)


class _Saveable(SaveableObject):
    def __init__(self, part: Any, own: str, dtype: Any, shared: _Shared, name: str) -> None:
        self._own, self._shared = own, shared
        spec = SaveSpec(self._value, "", name, dtype, shared.device)
        super().__init__(part, [spec], name)

    def _value(self) -> Any:
        if self._own not in self._shared.saving:
            with scopes.device(self._shared.device):
                self._shared.fill(self._shared.saving)
        return self._shared.saving.pop(self._own)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """Keeps the tensor; the last of them hands all on."""
        held = self._shared.restoring
        held[self._own] = restored_tensors[0]
        if len(held) < self._shared.count:
            return control.no_op()
        given = dict(held)
        held.clear()
        with scopes.device(self._shared.device):
            return self._shared.consume(given)


def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[Any],
    fill_save_buffer_fn: Fill,
    consume_restore_buffer_fn: Fill,
    device: str,
) -> dict[str, Any]:
    """Objects to be tracked that each save one tensor of several which belong together.

    Args:
      component_names, component_dtypes: of the tensors.
      fill_save_buffer_fn: puts the tensors by name into the dict that it is given.
      consume_restore_buffer_fn: takes a dict of the restored tensors; gives what restores them.
      device: of the tensors.

    Returns:
      An object for each name, to be tracked by those names.

    Example:
      >>> import penstock as tf
      >>> parts = tf.contrib.checkpoint.split_dependency(
      ...     ["low", "high"], [tf.float32] * 2,
      ...     lambda held: held.update(low=tf.constant(0.0), high=tf.constant(1.0)),
      ...     lambda held: tf.group(*held.values()), "/cpu:0")
      >>> sorted(parts)
      ['high', 'low']
    """
    shared = _Shared(len(component_names), fill_save_buffer_fn, consume_restore_buffer_fn, device)
    return {
        name: _Part(name, dtype, shared)
        for name, dtype in zip(component_names, component_dtypes, strict=True)
    }
