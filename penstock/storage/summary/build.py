"""The nodes behind ``tf.summary``: each opens a name scope, and the scope's name is the tag.

A tag is therefore unique in its graph.  With ``family`` the scope lies in one of that name, and the
tag has the family in front once more, so that TensorBoard groups by it.

State: nodes go to the collection ``GraphKeys.SUMMARIES`` unless ``collections`` says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from google.protobuf import json_format

from penstock.foundation.base import dtypes
from penstock.foundation.formats.messages import SummaryDescription, SummaryMetadata
from penstock.foundation.graph.build import make
from penstock.foundation.graph.collecting import add_to_collection, get_collection
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor

_NOT_IN_TAGS = re.compile(r"[^-/\w\.]")


def clean_tag(name: str | None) -> str | None:
    """``name`` with every character that a node name may not have replaced by an underscore."""
    return None if name is None else _NOT_IN_TAGS.sub("_", name).lstrip("/")


@contextmanager
def summary_scope(
    name: str | None, family: str | None, values: Sequence[Any], default: str | None = None
) -> Iterator[tuple[str, Any]]:
    """Opens the name scope of a summary; gives its tag and the name of its node.

    Raises:
      ValueError: there is no name, nor a ``default`` for one that is None.
    """
    given, name, family = name, clean_tag(name), clean_tag(family)
    with name_scope(name if family is None else f"{family}/{name}", default, values) as scope:
        if not scope:
            raise ValueError(
                f"{given!r} is not a valid node name: a summary needs one of characters that node"
                " names may have"
            )
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collect(node: Tensor, collections: Iterable[str] | None, default: Sequence[str]) -> Tensor:
    """Adds a summary to its collections."""
    for key in default if collections is None else collections:
        add_to_collection(key, node)
    return node


_SUMMARIES = (GraphKeys.SUMMARIES,)


def scalar(
    name: str, tensor: Any, collections: Iterable[str] | None = None, family: str | None = None
) -> Tensor:
    """A summary of one number.

    Args:
      name: the node's name, and with the scopes around it the tag.
      tensor: a real numeric scalar.
      collections: graph collections to add the node to; None means ``GraphKeys.SUMMARIES``.
      family: put before the tag, to group by.

    Returns:
      A string scalar: a serialized ``Summary``.

    Raises:
      ValueError: the name is empty.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     tf.Summary.FromString(sess.run(tf.summary.scalar("loss", 0.5))).value[0].tag
      'loss'
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        return collect(make("ScalarSummary", tag, tensor, name=scope), collections, _SUMMARIES)


def histogram(
    name: str, values: Any, collections: Iterable[str] | None = None, family: str | None = None
) -> Tensor:
    """A summary of how the values of a tensor are distributed.

    Args:
      name: the node's name, and with the scopes around it the tag.
      values: a real numeric tensor of any shape; running fails when one is NaN or infinite.
      collections: graph collections to add the node to; None means ``GraphKeys.SUMMARIES``.
      family: put before the tag, to group by.

    Returns:
      A string scalar: a serialized ``Summary``.

    Example:
      >>> import penstock as tf
      >>> summary = tf.summary.histogram("weights", [-1.0, 0.0, 1.0])
      >>> with tf.Session() as session:
      ...     found = tf.Summary.FromString(session.run(summary)).value[0]
      >>> found.tag, found.histo.min, found.histo.max, found.histo.num
      ('weights', -1.0, 1.0, 3.0)
    """
    with summary_scope(name, family, [values], "HistogramSummary") as (tag, scope):
        return collect(make("HistogramSummary", tag, values, name=scope), collections, _SUMMARIES)


def image(
    name: str,
    tensor: Any,
    max_outputs: int = 3,
    collections: Iterable[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of images, as PNG.

    Floats are scaled to the range of uint8, image by image: without negative values the largest
    becomes 255; with some, the values are centred at 128.  Pixels that are not finite show red.

    Args:
      name: the node's name, and with the scopes around it the first part of the tags.
      tensor: [batch, height, width, 1, 3 or 4 channels], uint8 or floating point.
      max_outputs: how many images of the batch are shown at most.
      collections: graph collections to add the node to; None means ``GraphKeys.SUMMARIES``.
      family: put before the tag, to group by.

    Returns:
      A string scalar: a serialized ``Summary``.

    Example:
      >>> import penstock as tf
      >>> summary = tf.summary.image("inputs", tf.zeros([4, 28, 28, 1]), max_outputs=2)
      >>> with tf.Session() as session:
      ...     found = tf.Summary.FromString(session.run(summary))
      >>> [(value.tag, value.image.height) for value in found.value]
      [('inputs/image/0', 28), ('inputs/image/1', 28)]
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        node = make("ImageSummary", tag, tensor, max_images=max_outputs, name=scope)
        return collect(node, collections, _SUMMARIES)


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Iterable[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of sound, as WAV.

    Args:
      name: the node's name, and with the scopes around it the first part of the tags.
      tensor: float32 [batch, frames] or [batch, frames, channels], in [-1, 1).
      sample_rate: a float32 scalar, in Hz.
      max_outputs: how many clips of the batch are kept at most.
      collections: graph collections to add the node to; None means ``GraphKeys.SUMMARIES``.
      family: put before the tag, to group by.

    Returns:
      A string scalar: a serialized ``Summary``.
    """
    with summary_scope(name, family, [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtypes.float32, name="sample_rate")
        node = make("AudioSummaryV2", tag, tensor, rate, max_outputs=max_outputs, name=scope)
        return collect(node, collections, _SUMMARIES)


def text(name: str, tensor: Any, collections: Iterable[str] | None = None) -> Tensor:
    """A summary of text, shown as Markdown; a vector is a table column, a matrix a table.

    Args:
      name: the node's name, and with the scopes around it the tag.
      tensor: strings.
      collections: graph collections to add the node to; None means ``GraphKeys.SUMMARIES``.

    Returns:
      A string scalar: a serialized ``Summary``.

    Raises:
      ValueError: the tensor does not hold strings.
    """
    if tensor.dtype != dtypes.string:
        raise ValueError(
            f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype.name}"
        )
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Iterable[str] | None = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary of a whole tensor, for a plugin of TensorBoard or for a reader of one's own.

    Args:
      name: the node's name, and with the scopes around it the tag.
      tensor: of any type and shape.
      summary_description: what it shows, in Markdown.
      collections: graph collections to add the node to; None means ``GraphKeys.SUMMARIES``.
      summary_metadata: a ``SummaryMetadata``: which plugin shows it, and that plugin's data.
      family: put before the tag, to group by.
      display_name: what TensorBoard calls it, instead of the tag.

    Returns:
      A string scalar: a serialized ``Summary``.

    Example:
      >>> import penstock as tf
      >>> data = tf.SummaryMetadata.PluginData(plugin_name="mine", content=b"version 1")
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     node = tf.summary.tensor_summary(
      ...         "weights", tf.ones([2]), summary_metadata=tf.SummaryMetadata(plugin_data=data))
      ...     tf.Summary.FromString(sess.run(node)).value[0].metadata.plugin_data.plugin_name
      'mine'
    """
    metadata = SummaryMetadata()
    if summary_metadata is not None:
        metadata.CopyFrom(summary_metadata)
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family, [tensor]) as (tag, scope):
        node = make("TensorSummaryV2", tag, tensor, metadata.SerializeToString(), name=scope)
        return collect(node, collections, _SUMMARIES)


def merge(
    inputs: Sequence[Any], collections: Iterable[str] | None = None, name: str | None = None
) -> Tensor:
    """One summary with the values of several.

    Args:
      inputs: string tensors that hold serialized ``Summary`` messages; running fails when two of
        them have the same tag.
      collections: graph collections to add the node to; None means none.
      name: name of the scope and of the node.

    Returns:
      A string scalar: a serialized ``Summary``.

    Example:
      >>> import penstock as tf
      >>> train = tf.summary.merge([tf.summary.scalar("loss", 0.5), tf.summary.scalar("rate", 0.1)])
      >>> with tf.Session() as session:
      ...     found = tf.Summary.FromString(session.run(train))
      >>> [value.tag for value in found.value]
      ['loss', 'rate']
    """
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        node = make("MergeSummary", list(inputs), name=name)
        return collect(node, collections, ())


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """Merges all summaries of a collection of the default graph; None when there are none.

    Args:
      key: the collection.
      scope: only those whose names match this regular expression at their start.
      name: as for ``merge``.

    Returns:
      A string scalar: the merged summaries as one message; None where the collection is empty.

    Example:
      >>> import penstock as tf
      >>> loss = tf.summary.scalar("loss", 0.5)
      >>> everything = tf.summary.merge_all()  # one fetch for all that there are
      >>> with tf.Session() as session:
      ...     [value.tag for value in tf.Summary.FromString(session.run(everything)).value]
      ['loss']
    """
    nodes = get_collection(key, scope=scope)
    return merge(nodes, name=name) if nodes else None


def get_summary_description(node_def: Any) -> Any:
    """The ``SummaryDescription`` that a ``TensorSummary`` node carries.

    Args:
      node_def: a ``NodeDef``.

    Raises:
      ValueError: the node is of another type.
    """
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    description = SummaryDescription()
    json_format.Parse(node_def.attr["description"].s.decode(), description)
    return description
