"""Reading event files: ``tf.train.summary_iterator``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.formats import tfrecord
from penstock.foundation.formats.messages import Event


def summary_iterator(path: Any) -> Iterator[Any]:
    """The events of a file, in order.

    A record that is cut short ends the iteration: its writer was killed, or is still writing.

    Args:
      path: an event file.

    Yields:
      ``Event`` messages.

    Raises:
      NotFoundError: there is no such file.
      DataLossError: a record is corrupt; the message has the file and the offset.

    Example:
      >>> import glob, tempfile, penstock as tf
      >>> logdir = tempfile.mkdtemp()
      >>> with tf.summary.FileWriter(logdir) as writer:
      ...     value = tf.Summary.Value(tag="loss", simple_value=0.5)
      ...     writer.add_summary(tf.Summary(value=[value]), global_step=3)
      >>> for event in tf.train.summary_iterator(glob.glob(logdir + "/*")[0]):
      ...     for value in event.summary.value:
      ...         print(event.step, value.tag, value.simple_value)
      3 loss 0.5
    """
    try:
        for record in tfrecord.read_records(path):
            yield Event.FromString(record)
    except errors.DataLossError as error:
        if "truncated record" not in error.message:
            raise
