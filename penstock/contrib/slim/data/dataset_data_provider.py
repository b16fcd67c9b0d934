"""The items of a ``Dataset``, read from its files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.contrib.slim.data.data_provider import DataProvider
from penstock.contrib.slim.data.dataset import Dataset
from penstock.contrib.slim.data.parallel_reader import parallel_read


class DatasetDataProvider(DataProvider):
    """Reads the records of a data set and decodes them.

    Args:
      dataset: a ``Dataset``.
      num_readers: how many files are read at a time.
      reader_kwargs: arguments of each reader.
      shuffle: whether files and records come in random order; ``seed`` is the seed of it.
      num_epochs: how often each file is read; None for ever.
      common_queue_capacity: most records that wait.
      common_queue_min: records that stay, for a good order, when they are shuffled.
      record_key: name of the item that is the key of a record.
      seed: of the order.
      scope: of the nodes.

    Raises:
      ValueError: the data set has an item called ``record_key``.
    """

    def __init__(
        self,
        dataset: Dataset,
        num_readers: int = 1,
        reader_kwargs: Mapping[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        key, record = parallel_read(
            dataset.data_sources,
            dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        names = dataset.decoder.list_items()
        tensors = dict(zip(names, dataset.decoder.decode(record, names), strict=True))
        if record_key in tensors:
            raise ValueError(
                "The item name used for `record_key` cannot also be used for a dataset item:"
                f" {record_key}"
            )
        super().__init__({**tensors, record_key: key}, dataset.num_samples)
