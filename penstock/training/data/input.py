"""Queues of inputs: names of files, numbers, slices of tensors, over and over or for some epochs.

Each producer makes a queue, an operation that puts a whole epoch in, and the ``QueueRunner`` that
runs it.  With ``num_epochs`` a local variable counts them; when it reaches the limit the count
raises OutOfRangeError, the runner closes the queue, and so the end reaches whoever reads from it.

State of the graph: queue runners in QUEUE_RUNNERS, counters in LOCAL_VARIABLES, and a summary of
how full the queue is in SUMMARIES.

Source: the input producers of TensorFlow 1.15 (nodes, names, collections, checks).
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.convert import convert_n_to_tensor, convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.variable import Variable
from penstock.ops.array import cast, gather, ranges, ranks, shape
from penstock.ops.control import control, debug
from penstock.ops.data import files
from penstock.ops.math import comparison
from penstock.ops.random import random
from penstock.storage.summary import build as summary
from penstock.training.data.queue_runner import QueueRunner, add_queue_runner
from penstock.training.data.queues import FIFOQueue

_EMPTY = "string_input_producer requires a non-null input tensor"


def match_filenames_once(pattern: Any, name: str | None = None) -> Any:
    """The files that match, looked up once, when the local variables are initialized.

    Args:
      pattern: string scalar or vector of shell patterns.
      name: name of the variable.

    Returns:
      A local variable that holds the names, sorted.
    """
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            initial_value=files.matching_files(pattern),
            trainable=False,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
            name=scope,
        )


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """The tensor, a number of times; then OutOfRangeError.

    The count is the local variable ``epochs``: run ``tf.local_variables_initializer()`` first.

    Args:
      tensor: any tensor.
      num_epochs: how often it may be evaluated; None for ever.
      name: name of the nodes' scope.

    Returns:
      A tensor like ``tensor``, or ``tensor`` itself where there is no limit.

    Raises:
      ValueError: ``num_epochs`` is not positive.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs: Any = Variable(
            initial_value=constant(0, dtypes.int64),
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
            name="epochs",
        )
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return control.identity(tensor, name=scope)


def fullness(taken: Any, capacity: int, name: str) -> None:
    """Adds a summary: which part of the capacity is filled.

    Args:
      taken: int32 scalar: elements of the queue that count.
      capacity: the most of them.
      name: of the summary.
    """
    summary.scalar(name, cast.cast(taken, dtypes.float32) * (1.0 / capacity))


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """A queue of the rows of a tensor.

    Args:
      input_tensor: rows to put in.
      element_shape: of a row, where the tensor's static shape does not say it.
      num_epochs: how often each row is put in; None for ever.
      shuffle: whether each epoch has its own random order; ``seed`` is the seed of it.
      capacity: of the queue.
      shared_name: sessions that share state share the queue under this name.
      summary_name: of a summary of how full the queue is; None for no summary.
      name: name of the queue.
      cancel_op: runs when the coordinator stops; default closes the queue.

    Returns:
      The queue; its QueueRunner is in the collection QUEUE_RUNNERS.

    Raises:
      ValueError: the shape of a row is not known.
    """
    with name_scope(name, "input_producer", [input_tensor]):
        tensor = convert_to_tensor(input_tensor, name="input_tensor")
        row = tensor.shape[1:].merge_with(element_shape)
        if not row.is_fully_defined():
            raise ValueError(
                "input_producer: either input_tensor must have a fully defined shape or"
                f" element_shape must be specified; found {tensor.shape} and {element_shape}"
            )
        if shuffle:
            tensor = random.random_shuffle(tensor, seed=seed)
        tensor = limit_epochs(tensor, num_epochs)
        queue_name: Any = name
        queue = FIFOQueue(
            capacity, [tensor.dtype.base_dtype], [row], shared_name=shared_name, name=queue_name
        )
        enqueue = queue.enqueue_many([tensor])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            fullness(queue.size(), capacity, summary_name)
        return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """A queue of strings, such as the names of files for a reader.

    Args:
      string_tensor: string vector.
      num_epochs: how often each string is put in; None for ever.
      shuffle, seed, capacity, shared_name, name, cancel_op: as for ``input_producer``.

    Returns:
      The queue.

    Raises:
      ValueError: there is no string.  A tensor without one is an error when it runs.

    Example:
      >>> import penstock as tf
      >>> names = tf.train.string_input_producer(["a.csv", "b.csv"], num_epochs=1, shuffle=False)
      >>> name = names.dequeue()
      >>> with tf.train.MonitoredSession() as session:
      ...     session.run(name), session.run(name)
      (b'a.csv', b'b.csv')
    """
    if not isinstance(string_tensor, Tensor | Variable) and not len(string_tensor):
        raise ValueError(_EMPTY)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        tensor = convert_to_tensor(string_tensor, dtypes.string)
        some = comparison.greater(ranks.size(tensor), 0)
        with control_dependencies([debug.Assert(some, [_EMPTY])]):
            tensor = control.identity(tensor)
        return input_producer(
            tensor,
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
            cancel_op,
        )


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """A queue of the integers from 0 to ``limit - 1``.

    Args:
      limit: int32 scalar.
      num_epochs: how often each number is put in; None for ever.
      shuffle, seed, capacity, shared_name, name: as for ``input_producer``.

    Returns:
      The queue.

    Example:
      >>> import penstock as tf
      >>> queue = tf.train.range_input_producer(3, num_epochs=1, shuffle=False)
      >>> index = queue.dequeue()
      >>> with tf.train.MonitoredSession() as session:
      ...     [int(session.run(index)) for _ in range(3)]
      [0, 1, 2]
    """
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            ranges.range_(limit),
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
        )


def slice_input_producer(
    tensor_list: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """One row of each tensor at a time; the rows of a step belong together.

    Args:
      tensor_list: tensors with the same first dim.
      num_epochs: how often each row is given out; None for ever.
      shuffle, seed, capacity, shared_name, name: as for ``input_producer``; the queue holds the
        numbers of rows.

    Returns:
      For each tensor, its row.

    Raises:
      ValueError: there is no tensor.

    Example:
      >>> import penstock as tf
      >>> image, label = tf.train.slice_input_producer(
      ...     [np.zeros([2, 28, 28]), [7, 8]], num_epochs=1, shuffle=False
      ... )
      >>> with tf.train.MonitoredSession() as session:
      ...     image.shape.as_list(), [int(session.run(label)) for _ in range(2)]
      ([28, 28], [7, 8])
    """
    with name_scope(name, "input_producer", tensor_list):
        tensors = convert_n_to_tensor(tensor_list)
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        sizes: Any = shape.shape(tensors[0])
        count = sizes[0]
        queue = range_input_producer(count, num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [gather.gather(tensor, index) for tensor in tensors]
