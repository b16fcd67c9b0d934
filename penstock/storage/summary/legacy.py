"""The summaries of TensorFlow 0.x: the tag is an argument of its own, and may be anything.

They are exported as ``tf.scalar_summary`` and so on, for programs of that time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.collecting import get_collection
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.summary.build import collect

_SUMMARIES = (GraphKeys.SUMMARIES,)


def scalar_summary(
    tags: Any, values: Any, collections: Iterable[str] | None = None, name: str | None = None
) -> Tensor:
    """A summary of numbers, one a tag; ``tags`` and ``values`` have the same shape.

    Args:
      tags: its name in TensorBoard, as it is; or a tensor of names.
      values: of their shape, numeric.
      collections: where the summary goes; ``GraphKeys.SUMMARIES`` without.

    Returns:
      A string scalar.

    Example:
      >>> import penstock as tf
      >>> summary = tf.scalar_summary("loss", 0.5)
      >>> with tf.Session() as session:
      ...     tf.Summary.FromString(session.run(summary)).value[0].simple_value
      0.5
    """
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return collect(make("ScalarSummary", tags, values, name=scope), collections, _SUMMARIES)


def histogram_summary(
    tag: Any, values: Any, collections: Iterable[str] | None = None, name: str | None = None
) -> Tensor:
    """A summary of how values are distributed, under the string scalar ``tag``.

    Args:
      tag: its name in TensorBoard, as it is.
      values: numeric tensor of any shape.
      collections: where the summary goes; ``GraphKeys.SUMMARIES`` without.

    Returns:
      A string scalar.

    Example:
      >>> import penstock as tf
      >>> tf.histogram_summary("layer/weights", tf.zeros([100])).dtype
      tf.string
    """
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return collect(make("HistogramSummary", tag, values, name=scope), collections, _SUMMARIES)


def image_summary(
    tag: Any,
    tensor: Any,
    max_images: int = 3,
    collections: Iterable[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """A summary of images [batch, height, width, channels], under ``tag/image/<i>``.

    Args:
      tag: its name in TensorBoard, as it is.
      tensor: uint8 or float32 [batch, height, width, channels].
      max_images: the most that are kept.
      collections: where the summary goes; ``GraphKeys.SUMMARIES`` without.

    Returns:
      A string scalar.

    Example:
      >>> import penstock as tf
      >>> tf.image_summary("inputs", tf.zeros([4, 28, 28, 1]), max_images=2).dtype
      tf.string
    """
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        node = make("ImageSummary", tag, tensor, max_images=max_images, name=scope)
        return collect(node, collections, _SUMMARIES)


def audio_summary(
    tag: Any,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Iterable[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """A summary of sound [batch, frames(, channels)], under ``tag/audio/<i>``."""
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = convert_to_tensor(sample_rate, dtypes.float32, name="sample_rate")
        node = make("AudioSummaryV2", tag, tensor, rate, max_outputs=max_outputs, name=scope)
        return collect(node, collections, _SUMMARIES)


def merge_summary(
    inputs: Sequence[Any], collections: Iterable[str] | None = None, name: str | None = None
) -> Tensor:
    """One summary with the values of several."""
    with name_scope(name, "MergeSummary", inputs):
        return collect(make("MergeSummary", list(inputs), name=name), collections, ())


def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Tensor | None:
    """Merges all summaries of a collection of the default graph; None when there are none.

    Args:
      key: the collection.

    Returns:
      A string scalar; None where the collection is empty.

    Example:
      >>> import penstock as tf
      >>> loss, rate = tf.scalar_summary("loss", 0.5), tf.scalar_summary("rate", 0.1)
      >>> with tf.Session() as session:
      ...     summary = tf.Summary.FromString(session.run(tf.merge_all_summaries()))
      >>> [value.tag for value in summary.value]
      ['loss', 'rate']
    """
    nodes = get_collection(key)
    return merge_summary(nodes) if nodes else None
