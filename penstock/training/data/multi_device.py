"""Elements of a dataset, dealt to several devices in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.operation import Operation


class MultiDeviceIterator:
    """An iterator that gives each of several devices its own elements, one after the other.

    Args:
      dataset: the dataset; all devices share it.
      devices: names of devices.
      max_buffer_size: taken for TensorFlow's sake; nothing is kept for a device.
      prefetch_buffer_size: elements that are made beforehand, for each device.
      source_device: where the dataset is read.

    Example:
      >>> import penstock as tf
      >>> from penstock.python.data.ops.multi_device_iterator_ops import MultiDeviceIterator
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     iterator = MultiDeviceIterator(tf.data.Dataset.range(4), ["/cpu:0", "/cpu:0"])
      ...     session.run(iterator.initializer)
      ...     print(*session.run(iterator.get_next()))
      0 1
    """

    def __init__(
        self,
        dataset: Any,
        devices: Sequence[str],
        max_buffer_size: int = 1,
        prefetch_buffer_size: int = 1,
        source_device: str = "/cpu:0",
    ) -> None:
        if not devices:
            raise ValueError("devices must have at least one name; found none")
        self._devices, self._source = list(devices), source_device
        with scopes.device(source_device):
            if prefetch_buffer_size > 0:
                dataset = dataset.prefetch(prefetch_buffer_size * len(self._devices))
            self._iterator = dataset.make_initializable_iterator()

    @property
    def initializer(self) -> Operation:
        """The operation that begins the dataset from its start."""
        made: Operation = self._iterator.initializer
        return made

    @property
    def element_spec(self) -> Any:
        """What an element is made of."""
        return self._iterator.element_spec

    def get_next(self, device: str | None = None) -> Any:
        """The next element of each device, in the order of ``devices``; or of one of them.

        Args:
          device: one device's name.

        Raises:
          ValueError: if it is none of the devices.
        """
        if device is None:
            return self._all()
        if device not in self._devices:
            raise ValueError(f"device must be one of {self._devices}; found {device!r}")
        return self._one()

    def _one(self) -> Any:
        with scopes.device(self._source):
            return self._iterator.get_next()

    def _all(self) -> list[Any]:
        """In a fixed order: the first device has the first element."""
        found: list[Any] = []
        for _ in self._devices:
            with scopes.control_dependencies(nest.flatten(found[-1]) if found else []):
                found.append(self._one())
        return found
