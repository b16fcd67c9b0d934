"""Functions of ``tf.contrib.summary``: each adds a node that writes when it runs.

What decides whether a summary is written is asked when the node is made (``recording``): known to
be so, the node stands alone; known not to be, there is none; else it is one branch of a
conditional.  The nodes of a graph are in a collection, so that a program can run them all.

Source: ``tf.contrib.summary`` of TensorFlow 1.15 (nodes, names, order, errors).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.formats.messages import GraphDef
from penstock.foundation.graph.behavior import executing_eagerly
from penstock.foundation.graph.build import make
from penstock.foundation.graph.collecting import add_to_collection, get_collection
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.defaults import get_default_session
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import control_dependencies, device
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import smart_cond
from penstock.library.variables.global_step import get_or_create_global_step
from penstock.ops.array.constant import constant, placeholder
from penstock.ops.control import control
from penstock.storage.summary import recording
from penstock.storage.summary.build import summary_scope
from penstock.storage.summary.resource_writer import summary_writer_initializer_op

# ``write(tag, scope, resource)`` adds the node; it is named by the scope.
_Write = Callable[[Any, str, Any], Any]


def _not_written() -> Any:
    return constant(False)


def _step(step: Any) -> Any:
    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, Tensor) else convert_to_tensor(step, dtypes.int64)


def _written(name: Any, tensor: Any, family: str | None, write: _Write) -> Any:
    """The node that ``write`` adds, as a bool tensor; its scope is the summary's name."""
    writer = recording.default_writer()
    if writer is None:
        return control.no_op()

    def record() -> Any:
        with (
            summary_scope(name, family, values=[tensor]) as (tag, scope),
            control_dependencies([write(tag, scope, writer.resource)]),
        ):
            return constant(True)

    with device("cpu:0"):
        written = smart_cond(recording.should_record_summaries(), record, _not_written, name="")
    if not executing_eagerly():
        add_to_collection(GraphKeys._SUMMARY_COLLECTION, written)
    return written


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes one number.

    Args:
      name: the tag, with the scopes around it.
      tensor: a real number.
      family: put before the tag, to group by.
      step: an int64 scalar; default the global step.

    Returns:
      A bool scalar: whether it was written. The ``NoOp`` (None where calls run at once) where there
      is no writer.

    Raises:
      TypeError: the tensor has another dtype, or the step is no integer.
      tf.errors.NotFoundError: when it runs: the writer is not open.
    """

    def write(tag: Any, scope: str, resource: Any) -> Any:
        number = _step(step)
        value = control.identity(tensor)
        return make("WriteScalarSummary", resource, number, tag, value, name=scope)

    return _written(name, tensor, family, write)


def generic(
    name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None
) -> Any:
    """Writes a tensor as it is.

    Args:
      tensor: of any dtype and shape.
      metadata: a ``SummaryMetadata``, or one as a string; default none.
      name, family, step: as of ``scalar``.

    Returns:
      As ``scalar``.
    """

    def write(tag: Any, scope: str, resource: Any) -> Any:
        about = metadata
        if about is None:
            about = constant("")
        elif hasattr(about, "SerializeToString"):
            about = constant(about.SerializeToString())
        number = _step(step)
        value = control.identity(tensor)
        return make("WriteSummary", resource, number, value, tag, about, name=scope)

    return _written(name, tensor, family, write)


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes how the values of a tensor are distributed.

    Args:
      tensor: real numbers of any shape; running fails when one is NaN or infinite.
      name, family, step: as of ``scalar``.

    Returns:
      As ``scalar``.
    """

    def write(tag: Any, scope: str, resource: Any) -> Any:
        number = _step(step)
        values = control.identity(tensor)
        return make("WriteHistogramSummary", resource, number, tag, values, name=scope)

    return _written(name, tensor, family, write)


def image(
    name: str,
    tensor: Any,
    bad_color: Any = None,
    max_images: int = 3,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes images.

    Args:
      tensor: [batch, height, width, channels], uint8, float32 or float16, of 1, 3 or 4 channels.
      bad_color: uint8, the color of pixels that are not finite; default red.
      max_images: how many of a batch.
      name, family, step: as of ``scalar``.

    Returns:
      As ``scalar``.
    """

    def write(tag: Any, scope: str, resource: Any) -> Any:
        color = constant([255, 0, 0, 255], dtypes.uint8) if bad_color is None else bad_color
        number = _step(step)
        pixels = control.identity(tensor)
        return make(
            "WriteImageSummary", resource, number, tag, pixels, color,
            max_images=max_images, name=scope,
        )  # fmt: skip

    return _written(name, tensor, family, write)


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes sounds.

    Args:
      tensor: [batch, frames, channels] or [batch, frames], float32 in [-1, 1].
      sample_rate: in hertz.
      max_outputs: how many of a batch.
      name, family, step: as of ``scalar``.

    Returns:
      As ``scalar``.
    """

    def write(tag: Any, scope: str, resource: Any) -> Any:
        number = _step(step)
        frames = control.identity(tensor)
        return make(
            "WriteAudioSummary", resource, number, tag, frames, sample_rate,
            max_outputs=max_outputs, name=scope,
        )  # fmt: skip

    return _written(name, tensor, family, write)


def graph(param: Any, step: Any = None, name: str | None = None) -> Any:
    """Writes a graph.

    Args:
      param: a string tensor, a serialized ``GraphDef``; where calls run at once a ``Graph`` or
        ``GraphDef``, too.
      step: as of ``scalar``.

    Returns:
      The operation; None where calls run at once.

    Raises:
      TypeError: ``param`` is something else.
    """
    eager = executing_eagerly()
    if not eager and not isinstance(param, Tensor):
        raise TypeError(
            f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}"
        )
    writer = recording.default_writer()
    if writer is None:
        return control.no_op()
    with device("cpu:0"):
        if isinstance(param, Graph | GraphDef):
            data = convert_to_tensor(_serialized(param), dtypes.string)
        else:
            data = control.identity(param)
        return make("WriteGraphSummary", writer.resource, _step(step), data, name=name)


def _serialized(given: Any) -> bytes:
    message = given.as_graph_def(add_shapes=True) if isinstance(given, Graph) else given
    data: bytes = message.SerializeToString()
    return data


def import_event(tensor: Any, name: str | None = None) -> Any:
    """Writes an event as it is.

    Args:
      tensor: a string, a serialized ``Event``.

    Returns:
      The operation; None where calls run at once.

    Raises:
      AttributeError: this thread has no writer.
    """
    writer = recording.default_writer()
    return make("ImportEvent", writer.resource, tensor, name=name)


def all_summary_ops() -> list[Any] | None:
    """What the functions above gave for the default graph; None where calls run at once."""
    if executing_eagerly():
        return None
    return list(get_collection(GraphKeys._SUMMARY_COLLECTION))


def initialize(graph: Any = None, session: Any = None) -> None:
    """Opens the writers of the default graph in a session; does nothing where calls run at once.

    Args:
      graph: a ``Graph`` or ``GraphDef`` to write, at step 0; default none.
      session: default the default session.

    Raises:
      RuntimeError: this thread has no writer.
      ValueError: there is no session.
    """
    if executing_eagerly():
        return
    if recording.default_writer() is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = get_default_session() if session is None else session
    if session is None:
        raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        serialized = placeholder(dtypes.string)
        written = write_graph(serialized, 0)
        session.run(written, feed_dict={serialized: _serialized(graph)})


write_graph = graph  # what a parameter hides in ``initialize``
