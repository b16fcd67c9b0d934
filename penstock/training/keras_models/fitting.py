"""The loops of ``fit``, ``evaluate`` and ``predict`` over arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from penstock.training.keras_models import arrays
from penstock.training.keras_models.callbacks import CallbackList, History, ProgbarLogger
from penstock.training.keras_models.progress import Progbar


def split(data: Any, fraction: float) -> tuple[Any, Any]:
    """Data without its last part, and that part; None where there is none.

    Args:
      data: inputs, targets and weights, lists of arrays; a weight may be None.
      fraction: the part, in [0, 1).
    """
    if not 0.0 < fraction < 1.0:
        return data, None
    at = int(len(data[0][0]) * (1.0 - fraction))
    return _rows(data, slice(0, at)), _rows(data, slice(at, None))


def _rows(data: Any, rows: Any) -> Any:
    try:
        return tuple([None if one is None else one[rows] for one in arrays_] for arrays_ in data)
    except TypeError as error:
        raise TypeError(
            'TypeError while preparing batch. If using HDF5 input data, pass shuffle="batch".'
            f" {error}"
        ) from error


def fit(
    model: Any, data: Any, held_out: Any, extra: str, batch_size: int, epochs: int, verbose: int,
    callbacks: Sequence[Any], shuffle: Any, initial_epoch: int, validation_freq: int,
) -> Any:  # fmt: skip
    """Trains; see ``Model.fit``.  All is as ``Model`` has standardized it.

    Args:
      held_out: as of ``run_epochs``; ``extra`` is what is said of it first.
    """
    count = len(data[0][0])
    sizes = {"batch_size": batch_size, "steps": None, "samples": count}
    bars = [ProgbarLogger(stateful_metrics=list(model.metrics_names)[1:])] if verbose else []
    return run_epochs(
        model, partial(_train_epoch, model, data, batch_size, shuffle), held_out,
        range(initial_epoch, epochs), validation_freq, sizes, verbose, bars, callbacks,
        f"Train on {count} samples{extra}" if verbose else "",
    )  # fmt: skip


def run_epochs(
    model: Any, train: Callable[[CallbackList], Any],
    held_out: Callable[[CallbackList], Any] | None, epochs: range, validation_freq: Any,
    sizes: dict[str, Any], verbose: int, bars: Sequence[Any], callbacks: Sequence[Any],
    announcement: str,
) -> History:  # fmt: skip
    """The loop of epochs, whatever the data comes from.

    Args:
      model: what is trained.
      train, held_out: an epoch's losses and metrics, and those of validation if there is any;
        both take the callbacks.
      epochs: their numbers, from 0.
      validation_freq: see ``is_due``.
      sizes: what callbacks are told of batches, steps and samples.
      verbose: what the bars are told, the others never.
      bars: callbacks that show progress, before all others.
      callbacks: the caller's.
      announcement: said first, if anything.

    Returns:
      The callback that has written down all epochs.
    """
    history, names = History(), list(model.metrics_names)
    shown = [*names, *(f"val_{name}" for name in names)] if held_out else names
    params = {
        **sizes, "epochs": epochs.stop, "verbose": 0, "do_validation": held_out is not None,
        "metrics": shown,
    }  # fmt: skip
    called = CallbackList([*bars, *callbacks, history], model, params)
    for bar in bars:
        bar.set_params({**params, "verbose": verbose})
    if announcement:
        print(announcement)
    model.__dict__.update(history=history, stop_training=False)
    model.training_step()
    called.call("on_train_begin", {})
    for epoch in epochs:
        model.reset_metrics()
        called.call("on_epoch_begin", epoch, {})
        logs = dict(zip(names, train(called), strict=True))
        if held_out and is_due(validation_freq, epoch):
            held = held_out(called)
            logs |= {f"val_{name}": value for name, value in zip(names, held, strict=True)}
        called.call("on_epoch_end", epoch, logs)
        if model.stop_training:
            break
    called.call("on_train_end", {})
    return history


def is_due(frequency: Any, epoch: int) -> bool:
    """Whether an epoch, counted from 0, is followed by validation.

    Args:
      frequency: epochs from one to the next, or the numbers of such epochs, counted from 1.
    """
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency


def _train_epoch(
    model: Any, data: Any, batch_size: int, shuffle: Any, called: CallbackList
) -> list[Any]:
    count = len(data[0][0])
    order = _order(count, batch_size, shuffle)
    means = _Means()
    for number, (first, last) in enumerate(arrays.batches(count, batch_size)):
        begun = {"batch": number, "size": last - first}
        called.call("on_train_batch_begin", number, begun)
        found = model.run_batch(True, *_rows(data, order[first:last]))
        means.add(found, last - first)
        logs = {**begun, **dict(zip(model.metrics_names, found, strict=True))}
        called.call("on_train_batch_end", number, logs)
        if model.stop_training:
            break
    return means.found()


def _order(count: int, batch_size: int, shuffle: Any) -> np.ndarray[Any, Any]:
    """The samples of an epoch; "batch" leaves those of a batch together, and a rest last."""
    order = np.arange(count)
    if shuffle == "batch":
        whole = order[: count // batch_size * batch_size].reshape(-1, batch_size)
        np.random.shuffle(whole)
        return np.append(whole, order[whole.size :])
    if shuffle:
        np.random.shuffle(order)
    return order


class _Means:
    """Losses of batches, averaged by size; what is of all batches so far, as it is."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._metrics: list[Any] = []
        self._size = 0

    def add(self, found: list[Any], size: int) -> None:
        """Takes a batch in."""
        self._sum += float(found[0]) * size
        self._metrics = found[1:]
        self._size += size

    def found(self) -> list[Any]:
        """Means, and metrics.

        Raises:
          ValueError: there was no batch.
        """
        if not self._size:
            raise ValueError("Empty training data. There is no sample in what was given")
        return [self._sum / self._size, *self._metrics]


def evaluate(
    model: Any, data: Any, batch_size: int, verbose: int, callbacks: Sequence[Any],
    inside: CallbackList | None = None,
) -> list[Any]:  # fmt: skip
    """Losses and metrics; see ``Model.evaluate``.  ``inside`` are the callbacks of ``fit``."""
    count = len(data[0][0])
    params = {
        "batch_size": batch_size, "epochs": 1, "steps": None, "samples": count,
        "verbose": verbose, "do_validation": False, "metrics": list(model.metrics_names),
    }  # fmt: skip
    called = inside or CallbackList(callbacks, model, params)
    names = model.metrics_names
    bar = Progbar(count, verbose=verbose, stateful_metrics=names[1:], unit_name="sample")
    model.reset_metrics()
    means = _Means()
    called.call("on_test_begin", {})
    for number, (first, last) in enumerate(arrays.batches(count, batch_size)):
        called.call("on_test_batch_begin", number, {"batch": number, "size": last - first})
        found = model.run_batch(False, *_rows(data, slice(first, last)))
        means.add(found, last - first)
        logs = dict(zip(names, found, strict=True))
        called.call("on_test_batch_end", number, {"batch": number, "size": last - first, **logs})
        if verbose and last < count:
            bar.update(last, list(logs.items()))
    called.call("on_test_end", {})
    if verbose:
        bar.stateful_metrics = set(names)
        bar.update(count, list(zip(names, means.found(), strict=True)))
    return means.found()


def predict(
    model: Any, inputs: list[Any], batch_size: int, verbose: int, callbacks: Sequence[Any]
) -> list[Any]:
    """The outputs; see ``Model.predict``."""
    count = len(inputs[0])
    params = {"batch_size": batch_size, "steps": None, "samples": count, "verbose": verbose}
    called = CallbackList(callbacks, model, params)
    bar = Progbar(count, verbose=verbose, unit_name="sample")
    parts = []
    called.call("on_predict_begin", {})
    for number, (first, last) in enumerate(arrays.batches(count, batch_size)):
        called.call("on_predict_batch_begin", number, {"batch": number, "size": last - first})
        made = model.predicted([one[first:last] for one in inputs])
        parts.append(made)
        logs = {"batch": number, "size": last - first, "outputs": made}
        called.call("on_predict_batch_end", number, logs)
        if verbose:
            bar.update(last)
    called.call("on_predict_end", {})
    if not parts:
        raise ValueError("Empty data. There is no sample in what was given")
    return [np.concatenate(of_output) for of_output in zip(*parts, strict=True)]
