"""Data that comes batch by batch: generators, ``Sequence`` and datasets of ``tf.data``.

A stream is read step by step: generators and repeated datasets go on from epoch to epoch, a
``Sequence`` and a finite dataset begin anew.  Batches are made in the thread that trains.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.library.layer_base import sessions
from penstock.training.data.dataset import Dataset
from penstock.training.data.iterator import Iterator as DatasetIterator
from penstock.training.keras_models.enqueuers import Sequence as Sequence


def is_stream(data: Any) -> bool:
    """Whether data comes batch by batch."""
    known = isinstance(data, Sequence | Dataset | DatasetIterator)
    return known or (hasattr(data, "__next__") and not hasattr(data, "shape"))


def stream_of(data: Any, steps: int | None, what: str, shuffle: bool = False) -> Stream:
    """A stream of data that ``is_stream``.

    Args:
      data: the data.
      steps: how many batches an epoch has; None where the data say it.
      what: the name of the argument that gives ``steps``, for the error.
      shuffle: whether a ``Sequence`` gives its batches in a new order each epoch.

    Raises:
      ValueError: nothing says how many batches an epoch has.
    """
    if isinstance(data, Sequence):
        return _OfSequence(data, steps, shuffle)
    if isinstance(data, Dataset | DatasetIterator):
        return _OfDataset(data, steps, what)
    if steps is None:
        raise ValueError(f"Please specify the number of steps via the `{what}` argument.")
    return _OfGenerator(data, steps)


def has_tensors(*given: Any) -> bool:
    """Whether a tensor of a graph, a list or a dict of such is among what is given.

    Each has another value in each step: it stands for batches, not for an array.
    """
    return any(_is_symbolic(one) for each in given for one in _members(each))


def values_of(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same with the values of its tensors, all of one step."""
    if not has_tensors(*given):
        return given
    flat = nest.flatten(given)
    found = iter(sessions.get_session().run([one for one in flat if _is_symbolic(one)]))
    made = [next(found) if _is_symbolic(one) else one for one in flat]
    packed: tuple[Any, ...] = nest.pack_sequence_as(given, made)
    return packed


def repeated(x: Any, y: Any, weights: Any, steps: int | None, what: str) -> Any:
    """All of what is given, again for each step.

    Raises:
      ValueError: it has tensors, and ``steps``, which the argument ``what`` gives, is None.
    """
    if steps is None:
        raise ValueError(
            f"When using data tensors as input to a model, you should specify the `{what}`"
            " argument: it says how many batches there are."
        )
    return itertools.repeat((x, y) if weights is None else (x, y, weights))


def _members(given: Any) -> Any:
    if isinstance(given, dict):
        return given.values()
    return given if isinstance(given, list | tuple) else (given,)


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.has_value


class Stream:
    """Batches of epochs.

    Args:
      steps: how many batches an epoch has, or None: until the data end.
    """

    def __init__(self, steps: int | None) -> None:
        self.steps = steps

    def epoch(self) -> Iterator[Any]:
        """The batches of the next epoch, each ``(x, y, weights)``."""
        given = self._batches()
        count = 0
        while self.steps is None or count < self.steps:
            try:
                batch = next(given)
            except StopIteration:
                break
            count += 1
            yield _parts(batch)
        self.steps = count if self.steps is None else self.steps

    def restart(self) -> None:
        """Begins anew what can: a dataset, not a generator."""

    def _batches(self) -> Iterator[Any]:
        raise NotImplementedError


def _parts(batch: Any) -> tuple[Any, Any, Any]:
    """``(x, y, weights)`` of what a stream gave.

    Raises:
      ValueError: it gave something else.
    """
    if not isinstance(batch, tuple):
        return batch, None, None
    if not 1 <= len(batch) <= 3:
        raise ValueError(
            "Output of generator should be a tuple `(x, y, sample_weight)` or `(x, y)`."
            f" Found: {batch}"
        )
    x, y, weights = (*batch, None, None)[:3]
    return x, y, weights


class _OfGenerator(Stream):
    def __init__(self, data: Any, steps: int) -> None:
        super().__init__(steps)
        self._data = data

    def _batches(self) -> Iterator[Any]:
        return iter(self._data)


class _OfSequence(Stream):
    def __init__(self, data: Sequence, steps: int | None, shuffle: bool) -> None:
        super().__init__(len(data) if steps is None else steps)
        self._data, self._shuffle = data, shuffle
        self._left: Iterator[Any] = iter(())

    def _batches(self) -> Iterator[Any]:
        while True:
            yield from self._left
            order = list(range(len(self._data)))
            if self._shuffle:
                random.shuffle(order)
            self._left = self._pass(order)
            if not order:
                return

    def _pass(self, order: list[int]) -> Iterator[Any]:
        for index in order:
            yield self._data[index]
        self._data.on_epoch_end()


class _OfDataset(Stream):
    def __init__(self, data: Any, steps: int | None, what: str) -> None:
        super().__init__(steps)
        self._whole = isinstance(data, Dataset) and steps is None
        self._data = data
        self._eager = scopes.get_default_graph().executes
        if self._whole:
            count = _cardinality(data)
            if count == -1:
                raise ValueError(
                    "When passing an infinitely repeating dataset, you must specify the"
                    f" `{what}` argument."
                )
            self.steps = count if count >= 0 else None
        self._given: Any = None
        if not self._eager:
            graph = scopes.get_default_graph()
            with graph.as_default(), graph.control_dependencies(None):
                made = data.make_initializable_iterator() if isinstance(data, Dataset) else data
                self._restart = made.initializer if isinstance(data, Dataset) else None
                self._next = made.get_next()

    def restart(self) -> None:
        """The next epoch begins with the dataset's first batch."""
        self._given = None

    def _batches(self) -> Iterator[Any]:
        if self._eager:
            if self._given is None or self._whole:
                self._given = iter(self._data)
            for batch in self._given:
                yield nest.map_structure(lambda one: one.numpy(), batch)
            return
        session = sessions.get_session()
        if self._restart is not None and (self._given is None or self._whole):
            session.run(self._restart)
        self._given = self._next
        while True:
            try:
                yield session.run(self._next)
            except errors.OutOfRangeError:
                return


def _cardinality(data: Any) -> int:
    """How many elements a dataset has; -1 stands for no end, -2 for a number that is not known."""
    made = make("DatasetCardinality", data._variant_tensor)
    return int(
        made.numpy() if scopes.get_default_graph().executes else sessions.get_session().run(made)
    )
