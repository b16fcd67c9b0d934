"""Datasets that choose, repeat, join and mix the elements of others, without looking at them.

State of an iterator: that of the iterators it reads from, how far it is, what it holds back.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from typing import Any

from penstock.engine.resources import waiting
from penstock.engine.resources.dataset import outcomes
from penstock.engine.resources.dataset.base import (
    INFINITE,
    UNKNOWN,
    Context,
    Dataset,
    Element,
    EndOfSequence,
    Iterator,
    State,
    Wrapped,
)  # fmt: skip
from penstock.engine.resources.dataset.sources import Elements
from penstock.engine.resources.stream import Stream, mix
from penstock.foundation.base import errors


class Over(Dataset):
    """A dataset over one other."""

    def __init__(self, source: Dataset) -> None:
        self.source = source

    @property
    def owned(self) -> bool:  # type: ignore[override]
        """As the elements are those of the source."""
        return self.source.owned


class Passing(Over):
    """The source as it is: what only advises TensorFlow's runtime."""

    def iterator(self, context: Context) -> Iterator:
        return self.source.iterator(context)

    def cardinality(self) -> int:
        return self.source.cardinality()


class Take(Over):
    """The first elements; a negative count means all."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count

    def iterator(self, context: Context) -> Iterator:
        source = self.source.iterator(context)
        return source if self.count < 0 else _TakeIterator(source, self.count)

    def cardinality(self) -> int:
        n = self.source.cardinality()
        if self.count < 0:
            return n
        return self.count if n == INFINITE else n if n == UNKNOWN else min(n, self.count)


class _TakeIterator(Wrapped):
    def __init__(self, source: Iterator, count: int) -> None:
        super().__init__(source)
        self._left = count

    def next(self) -> Element:
        if self._left <= 0:
            raise EndOfSequence
        element = self.source.next()
        self._left -= 1
        return element

    def save(self) -> State:
        return [self._left, self.source.save()]

    def restore(self, state: State) -> None:
        self._left = state[0]
        self.source.restore(state[1])


class Skip(Over):
    """All but the first elements; a negative count means none."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count

    def iterator(self, context: Context) -> Iterator:
        return _SkipIterator(self.source.iterator(context), self.count)

    def cardinality(self) -> int:
        n = self.source.cardinality()
        if self.count < 0:
            return 0
        return n if n in (INFINITE, UNKNOWN) else max(n - self.count, 0)


class _SkipIterator(Wrapped):
    def __init__(self, source: Iterator, count: int) -> None:
        super().__init__(source)
        self._left = count

    def next(self) -> Element:
        if self._left < 0:
            raise EndOfSequence
        while self._left:
            waiting.check_running()
            self.source.next()
            self._left -= 1
        return self.source.next()

    def save(self) -> State:
        return [self._left, self.source.save()]

    def restore(self, state: State) -> None:
        self._left = state[0]
        self.source.restore(state[1])


class Shard(Over):
    """Every n-th element."""

    def __init__(self, source: Dataset, num_shards: int, index: int) -> None:
        super().__init__(source)
        if num_shards < 1:
            raise errors.invalid(
                f"Number of shards must be greater than zero (currently num_shards = {num_shards})."
            )
        if not 0 <= index < num_shards:
            raise errors.invalid(
                f"Index must be between 0 and {num_shards - 1} (currently index = {index},"
                f" num_shards = {num_shards})."
            )
        self.count, self.index = num_shards, index

    def iterator(self, context: Context) -> Iterator:
        return _ShardIterator(self.source.iterator(context), self.count, self.index)

    def cardinality(self) -> int:
        n = self.source.cardinality()
        return n if n < 0 else n // self.count + (self.index < n % self.count)


class _ShardIterator(Wrapped):
    def __init__(self, source: Iterator, count: int, index: int) -> None:
        super().__init__(source)
        self._count, self._index, self._seen = count, index, 0

    def next(self) -> Element:
        while True:
            waiting.check_running()
            element = self.source.next()
            self._seen += 1
            if (self._seen - 1) % self._count == self._index:
                return element

    def save(self) -> State:
        return [self._seen, self.source.save()]

    def restore(self, state: State) -> None:
        self._seen = state[0]
        self.source.restore(state[1])


class Repeat(Over):
    """The source again and again; a negative count means without end."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count

    def iterator(self, context: Context) -> Iterator:
        return _RepeatIterator(self, context)

    def cardinality(self) -> int:
        n = self.source.cardinality()
        if self.count < 0:
            return 0 if n == 0 else INFINITE
        if n == INFINITE:
            return 0 if self.count == 0 else INFINITE
        return n if n == UNKNOWN else n * self.count


class _RepeatIterator(Iterator):
    def __init__(self, dataset: Repeat, context: Context) -> None:
        self._dataset, self._context = dataset, context
        self._epoch = 0
        self._source: Iterator | None = None

    def next(self) -> Element:
        while self._dataset.count < 0 or self._epoch < self._dataset.count:
            first = self._source is None
            if first:
                # Who looks in vain for an element comes by here in every pass.
                waiting.check_running()
            if self._source is None:
                self._source = self._dataset.source.iterator(self._context)
            try:
                return self._source.next()
            except EndOfSequence:
                self._source = None
                self._epoch += 1
                if first and self._dataset.count < 0:
                    # Nothing in it: without end would be without result.
                    self._epoch = 0
                    raise
        raise EndOfSequence

    def next_batch(self, count: int, whole: bool) -> Element | None:
        """``count`` elements as a batch; None where that is not quick, as across two epochs."""
        if self._source is None and (self._dataset.count < 0 or self._epoch < self._dataset.count):
            self._source = self._dataset.source.iterator(self._context)
        quick = getattr(self._source, "next_batch", None)
        left = getattr(self._source, "left", None)
        if quick is None or left is None or left() < count:
            return None
        made: Element | None = quick(count, whole)
        return made

    def save(self) -> State:
        return [self._epoch, None if self._source is None else self._source.save()]

    def restore(self, state: State) -> None:
        self._epoch = state[0]
        self._source = None
        if state[1] is not None:
            self._source = self._dataset.source.iterator(self._context)
            self._source.restore(state[1])


class Concatenate(Dataset):
    """One after the other."""

    def __init__(self, first: Dataset, second: Dataset) -> None:
        self.parts = (first, second)
        self.owned = first.owned and second.owned

    def iterator(self, context: Context) -> Iterator:
        return _ConcatenateIterator(self.parts, context)

    def cardinality(self) -> int:
        counts = [p.cardinality() for p in self.parts]
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)


class _ConcatenateIterator(Iterator):
    def __init__(self, parts: Sequence[Dataset], context: Context) -> None:
        self._parts, self._context = parts, context
        self._index = 0
        self._source: Iterator | None = parts[0].iterator(context)

    def next(self) -> Element:
        while self._source is not None:
            try:
                return self._source.next()
            except EndOfSequence:
                self._index += 1
                self._open()
        raise EndOfSequence

    def _open(self) -> None:
        more = self._index < len(self._parts)
        self._source = self._parts[self._index].iterator(self._context) if more else None

    def save(self) -> State:
        return [self._index, None if self._source is None else self._source.save()]

    def restore(self, state: State) -> None:
        self._index = state[0]
        self._open()
        if self._source is not None:
            self._source.restore(state[1])


class Zip(Dataset):
    """The components of several side by side, as long as all have elements."""

    def __init__(self, parts: Sequence[Dataset]) -> None:
        self.parts = list(parts)
        self.owned = all(p.owned for p in parts) and len({id(p) for p in parts}) == len(parts)

    def iterator(self, context: Context) -> Iterator:
        return _ZipIterator([p.iterator(context) for p in self.parts])

    def cardinality(self) -> int:
        counts = [p.cardinality() for p in self.parts]
        finite = [c for c in counts if c >= 0]
        if UNKNOWN in counts:
            return UNKNOWN
        return min(finite) if finite else INFINITE


class _ZipIterator(Iterator):
    def __init__(self, sources: list[Iterator]) -> None:
        self._sources = sources
        self._ended = False

    def next(self) -> Element:
        if self._ended:
            raise EndOfSequence
        try:
            return tuple([c for source in self._sources for c in source.next()])
        except EndOfSequence:
            self._ended = True
            raise

    def save(self) -> State:
        return [self._ended, [s.save() for s in self._sources]]

    def restore(self, state: State) -> None:
        self._ended = state[0]
        for source, saved in zip(self._sources, state[1], strict=True):
            source.restore(saved)


class Directed(Dataset):
    """Elements of several datasets, as a dataset of numbers says; ended ones are passed over."""

    def __init__(self, selector: Dataset, parts: Sequence[Dataset]) -> None:
        self.selector, self.parts = selector, list(parts)
        self.owned = all(p.owned for p in parts)

    def iterator(self, context: Context) -> Iterator:
        sources = [p.iterator(context) for p in self.parts]
        return _DirectedIterator(self.selector.iterator(context), sources)


class _DirectedIterator(Iterator):
    def __init__(self, selector: Iterator, sources: Sequence[Iterator]) -> None:
        self._selector = selector
        self._sources: list[Iterator] = list(sources)
        self._ended = [False] * len(sources)

    def next(self) -> Element:
        while not all(self._ended):
            index = int(self._selector.next()[0])
            if not 0 <= index < len(self._sources):
                raise errors.invalid(
                    f"Selector index out of range: {index} >= {len(self._sources)}"
                )
            if self._ended[index]:
                continue
            try:
                return self._sources[index].next()
            except EndOfSequence:
                self._ended[index] = True
        raise EndOfSequence

    def save(self) -> State:
        return [self._selector.save(), list(self._ended), [s.save() for s in self._sources]]

    def restore(self, state: State) -> None:
        self._selector.restore(state[0])
        self._ended = list(state[1])
        for source, saved in zip(self._sources, state[2], strict=True):
            source.restore(saved)


class Shuffle(Over):
    """Elements in random order, mixed within a buffer.

    The seeds of the iterators come from a generator of the dataset's: each epoch of a ``Repeat``
    has its own order, and each initialization makes the dataset anew and so starts again.

    Args:
      source: what is mixed.
      size: of the buffer, in elements.
      seeds: both 0: an order that nobody can repeat.
      reshuffle: whether each iterator has another order.
      epochs: how often the source is gone through; negative: without end.
    """

    def __init__(
        self, source: Dataset, size: int, seeds: tuple[int, int], reshuffle: bool, epochs: int = 1
    ) -> None:
        super().__init__(source)
        if size < 1:
            raise errors.invalid(f"buffer_size must be greater than zero; found {size}")
        self.size, self.epochs, self.reshuffle = size, epochs, reshuffle
        self.seed = Stream(*seeds).seed
        # How many iterators there have been.
        self.made = 0

    def iterator(self, context: Context) -> Iterator:
        number = self.made if self.reshuffle else 0
        self.made += 1
        return _ShuffleIterator(self, context, mix(self.seed, number))

    def cardinality(self) -> int:
        return Repeat(self.source, self.epochs).cardinality()


class _ShuffleIterator(Iterator):
    def __init__(self, dataset: Shuffle, context: Context, seed: int) -> None:
        self._dataset, self._context = dataset, context
        self._random = random.Random(seed)
        self._source: Iterator | None = None
        self._epoch = 0
        # What is held back, one list an epoch: epochs do not mix.
        self._held: deque[list[Element]] = deque()
        self._count = 0

    def next(self) -> Element:
        self._fill()
        while self._held and not self._held[0]:
            self._held.popleft()
        if not self._held:
            raise EndOfSequence
        held = self._held[0]
        index = self._random.randrange(len(held))
        held[index], held[-1] = held[-1], held[index]
        self._count -= 1
        return held.pop()

    def _fill(self) -> None:
        dataset = self._dataset
        while self._count < dataset.size:
            waiting.check_running()
            first = False
            if self._source is None:
                if 0 <= dataset.epochs <= self._epoch:
                    return
                self._source = dataset.source.iterator(self._context)
                self._held.append([])
                first = True
            try:
                self._held[-1].append(self._source.next())
                self._count += 1
            except EndOfSequence:
                self._source = None
                self._epoch += 1
                if first and dataset.epochs < 0:
                    # Nothing in it.
                    return

    def save(self) -> State:
        version, numbers, gauss = self._random.getstate()
        return {
            "random": [version, list(numbers), gauss],
            "made": self._dataset.made,
            "seed": self._dataset.seed,
            "epoch": self._epoch,
            "held": [list(held) for held in self._held],
            "source": None if self._source is None else self._source.save(),
        }

    def restore(self, state: State) -> None:
        version, numbers, gauss = state["random"]
        self._random.setstate((version, tuple(numbers), gauss))
        self._dataset.made, self._dataset.seed = state["made"], state["seed"]
        self._epoch = state["epoch"]
        self._held = deque([tuple(e) for e in held] for held in state["held"])
        self._count = sum(map(len, self._held))
        self._source = None
        if state["source"] is not None:
            self._source = self._dataset.source.iterator(self._context)
            self._source.restore(state["source"])


class Window(Over):
    """Windows of elements, each component a dataset of its own."""

    owned = False

    def __init__(self, source: Dataset, size: int, shift: int, stride: int, whole: bool) -> None:
        super().__init__(source)
        for name, value in (("size", size), ("shift", shift), ("stride", stride)):
            if value < 1:
                raise errors.invalid(f"Window {name} must be greater than zero.")
        self.size, self.shift, self.stride, self.whole = size, shift, stride, whole

    def iterator(self, context: Context) -> Iterator:
        return _WindowIterator(self, self.source.iterator(context))


class _WindowIterator(Wrapped):
    def __init__(self, dataset: Window, source: Iterator) -> None:
        super().__init__(source)
        self._dataset = dataset
        # What fails fails with the windows that it would be in.
        self._held: list[outcomes.Outcome] = []
        self._ended = False

    def next(self) -> Element:
        dataset = self._dataset
        span = (dataset.size - 1) * dataset.stride + 1
        self._read(span)
        if not self._held or (dataset.whole and len(self._held) < span):
            raise EndOfSequence
        held = self._held[: span : dataset.stride]
        rest = dataset.shift - len(self._held)
        self._held = self._held[dataset.shift :]
        for _ in range(rest):
            if self._read_one() is None:
                break
        chosen = [outcomes.taken(o) for o in held]
        return tuple(Elements([(c,) for c in column]) for column in zip(*chosen, strict=True))

    def _read(self, count: int) -> None:
        while len(self._held) < count:
            outcome = self._read_one()
            if outcome is None:
                return
            self._held.append(outcome)

    def _read_one(self) -> outcomes.Outcome | None:
        if self._ended:
            return None
        outcome = outcomes.attempted(self.source)
        self._ended = outcome is None
        return outcome

    def save(self) -> State:
        return [self._ended, [outcomes.saved(o) for o in self._held], self.source.save()]

    def restore(self, state: State) -> None:
        self._ended, self._held = state[0], [outcomes.restored(o) for o in state[1]]
        self.source.restore(state[2])


class IgnoreErrors(Over):
    """Leaves out elements that cannot be made."""

    def iterator(self, context: Context) -> Iterator:
        return _IgnoreErrorsIterator(self.source.iterator(context))


class _IgnoreErrorsIterator(Wrapped):
    def next(self) -> Element:
        while True:
            try:
                return self.source.next()
            except (EndOfSequence, errors.CancelledError, errors.DeadlineExceededError):
                raise
            except Exception:
                waiting.check_running()


class Unique(Over):
    """Each value once, where it first occurs."""

    def iterator(self, context: Context) -> Iterator:
        return _UniqueIterator(self.source.iterator(context))


class _UniqueIterator(Wrapped):
    def __init__(self, source: Iterator) -> None:
        super().__init__(source)
        self._seen: set[Any] = set()

    def next(self) -> Element:
        while True:
            element = self.source.next()
            key = element[0].item()
            if key not in self._seen:
                self._seen.add(key)
                return element
            waiting.check_running()

    def save(self) -> State:
        return [sorted(self._seen), self.source.save()]

    def restore(self, state: State) -> None:
        self._seen = set(state[0])
        self.source.restore(state[1])
