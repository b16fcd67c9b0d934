"""The loops of ``fit``, ``evaluate`` and ``predict`` over data that comes batch by batch.

Losses are averaged over steps, whatever the sizes of their batches.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import numpy as np

from penstock.foundation.base import errors
from penstock.foundation.graph import nest
from penstock.training.keras_models import fitting
from penstock.training.keras_models.callbacks import CallbackList, ProgbarLogger
from penstock.training.keras_models.progress import Progbar
from penstock.training.keras_models.streams import Stream, has_tensors

_LOG = logging.getLogger("penstock")


def _size(x: Any) -> int:
    """The size of a batch; of tensors, that are not known yet, as TensorFlow has it, one."""
    return 1 if x is None or has_tensors(x) else len(nest.flatten(x)[0])


class _Means:
    """The loss, averaged over steps; what is of all batches so far, as it is."""

    def __init__(self) -> None:
        self._sum, self.steps = 0.0, 0
        self._rest: list[Any] = []

    def add(self, found: list[Any]) -> None:
        """Takes a step in."""
        self._sum += float(found[0])
        self.steps += 1
        self._rest = found[1:]

    def found(self) -> list[Any]:
        """The mean, and the others.

        Raises:
          ValueError: there was no batch.
        """
        if not self.steps:
            raise ValueError("Empty training data. There is no batch in what was given")
        return [self._sum / self.steps, *self._rest]


def fit(
    model: Any, stream: Stream, validation: Any, epochs: int, verbose: int, callbacks: Any,
    class_weight: Any, initial_epoch: int, validation_freq: Any, announced: bool,
) -> Any:  # fmt: skip
    """Trains on a stream; see ``Model.fit``.

    Args:
      validation: None, a stream, or arrays as ``Model`` has standardized them.
      announced: whether the numbers of steps are said first.
    """
    extra = told(validation)
    sizes = {"batch_size": None, "steps": stream.steps, "samples": stream.steps}
    bars = [ProgbarLogger("steps", list(model.metrics_names)[1:])] if verbose else []
    held_out = None
    if validation is not None:
        verbose_then = 0 if announced else verbose
        held_out = partial(validated, model, validation, 32, verbose_then)
    return fitting.run_epochs(
        model, partial(_train, model, stream, class_weight), held_out,
        range(initial_epoch, epochs), validation_freq, sizes, verbose, bars, callbacks,
        f"Train on {stream.steps} steps{extra}" if verbose and announced else "",
    )  # fmt: skip


def told(validation: Any) -> str:
    """What is said of validation before training."""
    if validation is None:
        return ""
    if isinstance(validation, Stream):
        return f", validate on {validation.steps} steps"
    return f", validate on {len(validation[0][0])} samples"


def validated(
    model: Any, validation: Any, batch_size: int, verbose: int, called: CallbackList
) -> list[Any]:
    """Losses and metrics of a stream, or of arrays, that are not trained on."""
    if isinstance(validation, Stream):
        validation.restart()
        return evaluate(model, validation, verbose, [], called)
    return fitting.evaluate(model, validation, batch_size, 0, [], inside=called)


def _train(model: Any, stream: Stream, class_weight: Any, called: CallbackList) -> list[Any]:
    means = _Means()
    for number, (x, y, weights) in enumerate(stream.epoch()):
        begun = {"batch": number, "size": _size(x)}
        called.call("on_train_batch_begin", number, begun)
        try:
            found = model.run_batch(True, *model.standardized(x, y, weights, class_weight))
        except errors.OutOfRangeError:  # tensors of a queue or an iterator that has ended
            break
        means.add(found)
        logs = {**begun, **dict(zip(model.metrics_names, found, strict=True))}
        called.call("on_train_batch_end", number, logs)
        if model.stop_training:
            break
    if stream.steps and means.steps < stream.steps and not model.stop_training:
        _LOG.warning(
            "Your dataset ran out of data; interrupting training. An epoch has %s steps, of which"
            " there were %s; `repeat()` a dataset to begin anew",
            stream.steps, means.steps,
        )  # fmt: skip
        model.stop_training = True
    return means.found()


def evaluate(
    model: Any, stream: Stream, verbose: int, callbacks: Any, inside: CallbackList | None = None
) -> list[Any]:
    """Losses and metrics of an epoch of a stream; ``inside`` are the callbacks of ``fit``."""
    names = model.metrics_names
    params = {
        "batch_size": None, "epochs": 1, "steps": stream.steps, "samples": stream.steps,
        "verbose": verbose, "do_validation": False, "metrics": list(names),
    }  # fmt: skip
    called = inside or CallbackList(callbacks, model, params)
    bar = Progbar(stream.steps, verbose=verbose, stateful_metrics=names[1:])
    model.reset_metrics()
    means = _Means()
    called.call("on_test_begin", {})
    count = 0
    for number, (x, y, weights) in enumerate(stream.epoch()):
        count = number + 1
        called.call("on_test_batch_begin", number, {"batch": number, "size": _size(x)})
        found = model.run_batch(False, *model.standardized(x, y, weights, None))
        means.add(found)
        logs = dict(zip(names, found, strict=True))
        called.call("on_test_batch_end", number, {"batch": number, "size": _size(x), **logs})
        if verbose and count != stream.steps:
            bar.update(count, list(logs.items()))
    called.call("on_test_end", {})
    if verbose:
        bar.stateful_metrics = set(names)
        bar.update(count, list(zip(names, means.found(), strict=True)))
    return means.found()


def predict(model: Any, stream: Stream, verbose: int, callbacks: Any) -> list[Any]:
    """The outputs for an epoch of a stream, whose batches are inputs or begin with them."""
    params = {"batch_size": None, "steps": stream.steps, "samples": stream.steps}
    called = CallbackList(callbacks, model, {**params, "verbose": verbose})
    bar = Progbar(stream.steps, verbose=verbose)
    parts: list[list[Any]] = []
    called.call("on_predict_begin", {})
    for number, (x, _, _) in enumerate(stream.epoch()):
        called.call("on_predict_batch_begin", number, {"batch": number, "size": _size(x)})
        made = model.predict_on_batch(x)
        parts.append(list(made) if isinstance(made, list) else [made])
        logs = {"batch": number, "size": _size(x), "outputs": parts[-1]}
        called.call("on_predict_batch_end", number, logs)
        if verbose:
            bar.update(number + 1)
    called.call("on_predict_end", {})
    return [np.concatenate(of_output) for of_output in zip(*parts, strict=True)]
