"""Native calls of stretches, and their trial against the lines that they stand for.

A ``NativeCall`` is what the program calls.  It looks whether its tensors are those that the library
was made for, and runs the stretch's own lines where they are not, or where the library fails: so
an error is that of a line, as always.

A ``Trial`` stands in its place at first.  It runs both forms on copies of what a real step gives
them, and then the lines for the step itself: whatever the library does, no variable sees it.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from typing import Any

import torch

from penstock.engine.native.library import Library, is_like, within
from penstock.foundation.machine import hardware

log = logging.getLogger("penstock")

# Of programs of whole networks, under ``make conformance``.
_TOLERANCE = {torch.float32: (2e-4, 1e-5), torch.float64: (1e-7, 1e-9)}
_RUNS, _FIRST_RUNS = 12, 2
# A native form must save this much to be worth another way of computing.
_WORTH = 0.95

# Runs that may give it what it was not made for, before it is given up: a loop's first round does.
_UNFIT = 100

# The share of the memory left that a trial's copies may take.
_SHARE = 0.25
# So few bytes are copied whatever is left.
_SMALL = 16 << 20

FAST, SLOW, DIFFERENT, FAILED, UNFIT = "fast", "slow", "different", "failed", "unfit"
LARGE = "too large to be tried"


class NativeCall:
    """A stretch as the program calls it.

    Args:
      library: the compiled form.
      plain: the function of the stretch's own lines.
      resources, constants: what it uses of the program's globals.
      about: shape, strides and dtype of all that the library takes.
      updates: whether it updates variables.
      bounds: positions of indices among all that the library takes, and what they must be less
        than; constants are looked at once.
    """

    __slots__ = (
        "_library", "_plain", "_resources", "_constants", "_given", "_held", "_known", "_updates",
        "_bounds", "_is_safe", "__weakref__",
    )  # fmt: skip

    def __init__(
        self,
        library: Library,
        plain: Callable[..., Any],
        resources: Sequence[Any],
        constants: Sequence[Any],
        about: Sequence[Any],
        updates: bool = False,
        bounds: Sequence[Sequence[int]] = (),
    ) -> None:
        self._library, self._plain, self._updates = library, plain, updates
        self._resources, self._constants = tuple(resources), tuple(constants)
        count = len(about) - len(self._resources) - len(self._constants)
        self._given = [(tuple(shape), tuple(strides)) for shape, strides, _ in about[:count]]
        self._bounds = [(place, limit) for place, limit in bounds if place < count]
        fixed = [(place - len(about), limit) for place, limit in bounds if place >= count]
        self._is_safe = all(within(self._constants[place], limit) for place, limit in fixed)
        self._held = about[count : count + len(self._resources)]
        # The variables' tensors that were found to fit, while all of them live: one tuple, since
        # threads look at it and set it.
        self._known: tuple[list[int], list[Any]] = ([], [])

    def __call__(self, *given: Any) -> Any:
        """Runs the stretch; gives the locals that it makes, in a sequence."""
        tensors = self.fit(given)
        if tensors is None:
            return self._plain(*given)
        try:
            return self._library(tensors)
        except Exception as error:
            log.debug("a native call failed: %s", error)
            if self._updates:
                raise  # some variables may be updated already
            return self._plain(*given)

    def fit(self, given: tuple[Any, ...]) -> list[Any] | None:
        """What the library takes; None where it is not what it was made for."""
        if not self._is_safe:
            return None  # the line says so
        try:
            values = [resource.value for resource in self._resources]
            if list(map(id, values)) != self._known[0] and not self._fit(values):
                return None
            for tensor, (shape, strides) in zip(given, self._given, strict=True):
                if tensor.stride() != strides or tensor.shape != shape:
                    return None
            for place, limit in self._bounds:
                if not within(given[place], limit):
                    return None  # the line says so
        except AttributeError:
            return None  # a variable has no value: the line says so
        return [*given, *values, *self._constants]

    def _fit(self, values: list[Any]) -> bool:
        if not all(map(is_like, values, self._held)):
            return False
        method = weakref.WeakMethod(self._forget)

        def died(_: Any) -> None:
            forget = method()
            if forget is not None:
                forget()

        self._known = list(map(id, values)), [weakref.ref(value, died) for value in values]
        return True

    def _forget(self) -> None:
        """Another tensor may have the number of one that is gone."""
        self._known = [], []


class Trial:
    """The two forms of a stretch, by turns.

    Args:
      library, plain, resources, constants, about: as for ``NativeCall``.
      apart: makes the function of the stretch's own lines with other variables, by their names.
      names: of the resources.
      updates: which of the resources it updates.
      bounds: as for ``NativeCall``.
      marked: what a run of the library is surrounded by, which may end the process.
    """

    def __init__(
        self,
        library: Library,
        plain: Callable[..., Any],
        resources: Sequence[Any],
        constants: Sequence[Any],
        about: Sequence[Any],
        apart: Callable[[Mapping[str, Any]], Callable[..., Any]],
        names: Sequence[str],
        updates: Sequence[int],
        bounds: Sequence[Sequence[int]] = (),
        marked: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._plain, self._resources, self._marked = plain, tuple(resources), marked
        self._updates = frozenset(updates)
        # Each form works on copies of its own.
        self._native_on, self._plain_on = (
            [_Copy() for _ in self._resources],
            [_Copy() for _ in self._resources],
        )
        self._native = NativeCall(
            library, _refuse, self._native_on, constants, about, bounds=bounds
        )
        self._apart = apart(dict(zip(names, self._plain_on, strict=True)))
        self._lock = threading.Lock()
        self._times: tuple[list[float], list[float]] = ([], [])
        self._runs = self._unfit = 0
        self.verdict = ""

    def __call__(self, *given: Any) -> Any:
        """Runs the stretch's lines, and before that both forms on copies."""
        if not self.verdict and self._lock.acquire(blocking=False):
            try:
                self._try(given)
            except AttributeError:
                pass  # a variable has no value yet: the line says so
            except Exception as error:
                log.debug("a trial failed: %s", error)
                self.verdict = FAILED
            finally:
                self._lock.release()
        return self._plain(*given)

    def _try(self, given: tuple[Any, ...]) -> None:
        values = [resource.value for resource in self._resources]
        if not self._runs and not _has_room(given, [values[i] for i in self._updates]):
            self.verdict = LARGE
            return
        for index, value in enumerate(values):
            updated = index in self._updates
            self._native_on[index].value = value.clone() if updated else value
            self._plain_on[index].value = self._native_on[index].value.clone() if updated else value
        if self._native.fit(given) is None:
            self._unfit += 1
            if self._unfit >= _UNFIT and not self._runs:
                self.verdict = UNFIT
            return self._let_go()
        copies = tuple(tensor.clone() for tensor in given)
        order: list[tuple[Callable[..., Any], Any]] = [
            (self._native, given), (self._apart, copies),
        ]  # fmt: skip
        taken: list[tuple[float, Any]] = []
        with self._marked():
            for form, args in order[:: 1 if self._runs % 2 else -1]:
                begin = time.perf_counter()
                made = form(*args)
                taken.append((time.perf_counter() - begin, made))
        (native, ours), (plain, theirs) = taken[:: 1 if self._runs % 2 else -1]
        self._runs += 1
        pairs = [*zip(ours, theirs, strict=True)]
        pairs += [
            (self._native_on[i].value, self._plain_on[i].value) for i in sorted(self._updates)
        ]
        seen = [tensor for tensor, _ in pairs], [tensor for _, tensor in pairs]
        mine = _sharing(seen[0], (*given, *(each.value for each in self._native_on)))
        lines = _sharing(seen[1], (*copies, *(each.value for each in self._plain_on)))
        if not all(same(one, other) for one, other in pairs) or not mine <= lines:
            self.verdict = DIFFERENT
        elif self._runs > _FIRST_RUNS:
            self._times[0].append(native)
            self._times[1].append(plain)
        if not self.verdict and self._runs >= _RUNS:
            self.verdict = FAST if self.ratio < _WORTH else SLOW
        self._let_go()

    def _let_go(self) -> None:
        for copied in (*self._native_on, *self._plain_on):
            del copied.value

    @property
    def seconds(self) -> float:
        """What the native form takes."""
        return median(self._times[0]) if self._times[0] else 0.0

    @property
    def ratio(self) -> float:
        """The native form's time, the lines' being one."""
        native, plain = self._times
        return median(native) / median(plain) if native else 1.0


class _Copy:
    """Holds a variable's value during a trial."""

    value: Any

    __slots__ = ("value", "lock", "layout", "dims", "initialized", "name", "__weakref__")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.layout = self.dims = None
        self.initialized, self.name = True, "variable"

    def assign(self, value: Any, validate_shape: bool = True, keeps_shape: bool = False) -> None:
        """Copies a value of the same shape."""
        self.value.copy_(value)


def same(one: Any, other: Any) -> bool:
    """Whether two tensors are equal, but for the order in which sums were added up."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype not in _TOLERANCE:
        return torch.equal(one, other)
    rtol, atol = _TOLERANCE[one.dtype]
    return torch.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True)


def _sharing(made: Sequence[torch.Tensor], given: Sequence[torch.Tensor]) -> set[tuple[int, int]]:
    """Which of what a stretch makes lies in another's memory: no more may than its lines say."""
    tensors = [*made, *given]
    places = [tensor.untyped_storage().data_ptr() for tensor in tensors]
    return {
        (i, j)
        for i in range(len(made))
        for j, place in enumerate(places)
        if i != j and place == places[i] and tensors[i].numel() and tensors[j].numel()
    }


def _has_room(given: Sequence[Any], updated: Sequence[Any]) -> bool:
    """Whether there is memory for what a trial copies: each update's variable twice."""
    bytes = sum(each.nbytes for each in given) + 2 * sum(each.nbytes for each in updated)
    left = hardware.memory().available if bytes > _SMALL else None
    return left is None or bytes < _SHARE * left


def _refuse(*given: Any) -> Any:
    raise RuntimeError("what a step gives is not what the native form was made for")
