"""One signature of a loaded SavedModel: what it takes and gives, and its steps.

Calls whose tensors have an open first dim are gathered into batches by what serves the op
``BatchFunction`` (``engine.resources.batching``): a batch is one step of the session.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.engine.resources.batching import Batcher
from penstock.foundation.base import errors
from penstock.foundation.graph.tensor import Tensor

# So many choices of outputs have callables of their own; others fetch all outputs.
_MOST_CHOICES = 16


@dataclass(frozen=True)
class Batching:
    """How calls are gathered.

    Args:
      largest: the most rows of a batch; 1: calls are not gathered.
      seconds: how long a batch that is not full waits for further calls while a thread is free.
      threads: how many batches run at once.
      waiting: the most batches that wait; a call beyond them is refused.
    """

    largest: int = 64
    seconds: float = 0.0
    threads: int = 2
    waiting: int = 64


class Signature:
    """A signature whose tensors lie in a session's graph.

    Args:
      name, method: key and method name of the ``SignatureDef``.
      inputs, outputs: its tensors, by name.
      session: what runs them.
      batching: how calls are gathered.
      observe: is told the rows of each batch that is run.
    """

    def __init__(
        self,
        name: str,
        method: str,
        inputs: Mapping[str, Tensor],
        outputs: Mapping[str, Tensor],
        session: Any,
        batching: Batching,
        observe: Callable[[int], None] = lambda rows: None,
    ) -> None:
        self.name, self.method = name, method
        self.inputs, self.outputs = dict(inputs), dict(outputs)
        self._session, self._batching, self._observe = session, batching, observe
        self.rows_are_free = all(map(_first_is_open, [*inputs.values(), *outputs.values()]))
        self._lock = threading.Lock()
        self._steps: dict[tuple[str, ...], Callable[..., list[np.ndarray]]] = {}

    def __call__(
        self, arrays: Mapping[str, np.ndarray], wanted: Sequence[str] = ()
    ) -> dict[str, np.ndarray]:
        """Runs the signature.

        Args:
          arrays: a value for each input.
          wanted: names of outputs; none: all.

        Returns:
          The values by name.

        Raises:
          tf.errors.InvalidArgumentError: names, dtypes or shapes that are not the signature's.
          tf.errors.UnavailableError: too many calls wait.
        """
        self._check(arrays)
        unknown = [name for name in wanted if name not in self.outputs]
        if unknown:
            raise errors.invalid(
                f"output tensor alias not found in signature: {unknown[0]}; outputs of"
                f" {self.name!r} are {_names(self.outputs)}"
            )
        chosen = tuple(sorted(set(wanted) or self.outputs))
        given = [arrays[name] for name in self.inputs]
        return dict(zip(chosen, self._step(chosen)(given), strict=True))

    def _check(self, arrays: Mapping[str, np.ndarray]) -> None:
        if set(arrays) != set(self.inputs):
            missing, extra = set(self.inputs) - set(arrays), set(arrays) - set(self.inputs)
            raise errors.invalid(
                "input size does not match signature: "
                f"{len(arrays)}!={len(self.inputs)}; signature {self.name!r} takes"
                f" {_names(self.inputs)}" + (f"; missing: {_names(missing)}" if missing else "")
                + (f"; not taken: {_names(extra)}" if extra else "")
            )  # fmt: skip
        for name, array in arrays.items():
            tensor = self.inputs[name]
            if array.dtype != tensor.dtype.as_numpy_dtype:
                raise errors.invalid(
                    f"input {name!r} of signature {self.name!r} is {array.dtype}; it must be"
                    f" {tensor.dtype.name}"
                )
            if not tensor.shape.is_compatible_with(array.shape):
                raise errors.invalid(
                    f"input {name!r} of signature {self.name!r} has shape {list(array.shape)}; it"
                    f" must be {tensor.shape}"
                )

    def _step(self, chosen: tuple[str, ...]) -> Callable[..., list[np.ndarray]]:
        step = self._steps.get(chosen)
        if step is not None:
            return step
        whole = tuple(sorted(self.outputs))
        with self._lock:
            if chosen == whole or len(self._steps) < _MOST_CHOICES:
                if chosen not in self._steps:
                    self._steps[chosen] = self._made(chosen)
                return self._steps[chosen]
        rest = self._step(whole)
        places = [whole.index(name) for name in chosen]

        def picked(given: list[np.ndarray]) -> list[np.ndarray]:
            found = rest(given)
            return [found[place] for place in places]

        return picked

    def _made(self, chosen: tuple[str, ...]) -> Callable[..., list[np.ndarray]]:
        run = self._session.make_callable(
            [self.outputs[name] for name in chosen], feed_list=list(self.inputs.values())
        )
        how = self._batching
        if not (self.rows_are_free and self.inputs and how.largest > 1):
            return lambda given: run(*given)
        batcher = Batcher(self.name, how.threads, how.largest, how.seconds, how.waiting)

        def run_batch(joined: list[np.ndarray]) -> list[np.ndarray]:
            self._observe(len(joined[0]))
            return run(*joined)  # type: ignore[no-any-return]

        def gathered(given: list[np.ndarray]) -> list[np.ndarray]:
            if len(given[0]) > how.largest:  # a batch by itself
                return run(*given)  # type: ignore[no-any-return]
            return batcher(given, run_batch)

        return gathered


def _first_is_open(tensor: Tensor) -> bool:
    sizes = tensor.sizes
    return sizes is not None and len(sizes) > 0 and sizes[0] is None


def _names(names: Any) -> str:
    return ", ".join(sorted(names)) or "nothing"
