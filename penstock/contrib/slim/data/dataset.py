"""A description of a data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Dataset:
    """Where the records of a data set are, and what is in them.

    Args:
      data_sources: files, or patterns of their names.
      reader: class of the reader of the files, such as ``tf.TFRecordReader``.
      decoder: a ``data_decoder.DataDecoder`` for the records.
      num_samples: how many records there are.
      items_to_descriptions: name of an item to what it is, in words.
      **kwargs: further attributes.

    Example:
      >>> import penstock as tf
      >>> data = tf.contrib.slim.dataset.Dataset("a*", tf.TFRecordReader, None, 3, {}, labels=2)
      >>> data.num_samples, data.labels
      (3, 2)
    """

    data_sources: Any
    reader: Any
    decoder: Any
    num_samples: int | None
    items_to_descriptions: Mapping[str, str]

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: int | None,
        items_to_descriptions: Mapping[str, str],
        **kwargs: Any,
    ) -> None:
        self.data_sources = data_sources
        self.reader = reader
        self.decoder = decoder
        self.num_samples = num_samples
        self.items_to_descriptions = items_to_descriptions
        for name, value in kwargs.items():
            setattr(self, name, value)
