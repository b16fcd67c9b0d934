"""``tf.keras.callbacks``: what training calls as it goes along."""

from __future__ import annotations

import csv
import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.library.layer_base import sessions
from penstock.training.keras_models.progress import Progbar

_log = logging.getLogger("penstock")


class Callback:
    """Base of callbacks; ``model`` and ``params`` are set before training begins."""

    model: Any = None
    params: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        """Takes what training was told: batch_size, epochs, samples and so on."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Takes the model that is trained."""
        self.model = model

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch; ``logs`` has the losses and metrics, those of validation too."""

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of training."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of training."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of training."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of training."""
        self.on_batch_end(batch, logs)

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of evaluation."""

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of evaluation."""

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of prediction."""

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of prediction."""

    def on_train_begin(self, logs: Any = None) -> None:
        """Before training."""

    def on_train_end(self, logs: Any = None) -> None:
        """After training."""

    def on_test_begin(self, logs: Any = None) -> None:
        """Before evaluation."""

    def on_test_end(self, logs: Any = None) -> None:
        """After evaluation."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before prediction."""

    def on_predict_end(self, logs: Any = None) -> None:
        """After prediction."""


class CallbackList:
    """Callbacks that are called one after another."""

    def __init__(self, callbacks: Sequence[Any], model: Any, params: dict[str, Any]) -> None:
        self.callbacks = list(callbacks)
        for one in self.callbacks:
            one.set_model(model)
            one.set_params(params)

    def call(self, name: str, *args: Any) -> None:
        """Calls the method of that name of all."""
        for one in self.callbacks:
            getattr(one, name)(*args)


class History(Callback):
    """Keeps what epochs came to: ``history`` by name, ``epoch`` their numbers."""

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins anew."""
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Notes an epoch."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """Functions in the place of methods.

    Args:
      on_epoch_begin, on_epoch_end, on_batch_begin, on_batch_end: take a number and logs.
      on_train_begin, on_train_end: take logs.
    """

    def __init__(
        self, on_epoch_begin: Any = None, on_epoch_end: Any = None, on_batch_begin: Any = None,
        on_batch_end: Any = None, on_train_begin: Any = None, on_train_end: Any = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        self.__dict__.update(kwargs)
        given = {
            "on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin, "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin, "on_train_end": on_train_end,
        }  # fmt: skip
        self.__dict__.update({k: v for k, v in given.items() if v is not None})


class TerminateOnNaN(Callback):
    """Ends training when a batch's loss is not a number."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Looks at the loss."""
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class ProgbarLogger(Callback):
    """Prints the progress bar of training.

    Args:
      count_mode: ``"samples"`` or ``"steps"``.
      stateful_metrics: names that are shown as they are.
    """

    def __init__(self, count_mode: str = "samples", stateful_metrics: Any = None) -> None:
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or ())
        self.log_values: list[Any] = []

    def on_train_begin(self, logs: Any = None) -> None:
        """Takes in what training was told."""
        self.verbose, self.epochs = self.params["verbose"], self.params["epochs"]

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begins a bar."""
        self.seen = 0
        self.target = self.params["steps" if self.use_steps else "samples"]
        if self.verbose and self.epochs > 1:
            print(f"Epoch {epoch + 1}/{self.epochs}")
        self.bar = Progbar(
            self.target, verbose=self.verbose, stateful_metrics=self.stateful_metrics,
            unit_name="step" if self.use_steps else "sample",
        )  # fmt: skip

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Moves the bar, which waits for the epoch's end with its last step."""
        logs = logs or {}
        self.seen += 1 if self.use_steps else logs.get("size", 0)
        self.log_values = [(k, logs[k]) for k in self.params["metrics"] if k in logs]
        if self.verbose and (self.target is None or self.seen < self.target):
            self.bar.update(self.seen, self.log_values)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Ends the bar, with the results of validation."""
        logs = logs or {}
        self.log_values = [(k, logs[k]) for k in self.params["metrics"] if k in logs]
        self.bar.stateful_metrics |= {name for name, _ in self.log_values}
        if self.verbose:
            self.bar.update(self.seen, self.log_values)


class _Watching(Callback):
    """What follows a value over epochs: which value, and whether less of it is better."""

    monitor: str
    min_delta: float

    def _set_mode(self, monitor: str, mode: str, min_delta: float = 0.0) -> None:
        if mode not in ("auto", "min", "max"):
            _log.warning(f"{type(self).__name__} mode {mode} is unknown, fallback to auto mode.")
            mode = "auto"
        grows = "acc" in monitor or monitor.startswith("fmeasure")
        self.monitor, self.mode = monitor, mode
        self.less = mode == "min" or (mode == "auto" and not grows)
        self.min_delta = abs(min_delta)
        self.best = np.inf if self.less else -np.inf

    def _better(self, value: Any) -> bool:
        if self.less:
            return bool(value < self.best - self.min_delta)
        return bool(value > self.best + self.min_delta)

    def _value(self, logs: Any) -> Any:
        found = (logs or {}).get(self.monitor)
        if found is None:
            _log.warning(
                f"{type(self).__name__} conditioned on metric `{self.monitor}` which is not"
                f" available. Available metrics are: {','.join(logs or ())}"
            )
        return found


class EarlyStopping(_Watching):
    """Ends training when a value no longer becomes better.

    Args:
      monitor: name of the value in the logs.
      min_delta: what counts as better.
      patience: epochs to wait.
      verbose: whether to say so.
      mode: ``"min"``, ``"max"`` or ``"auto"``, by the name.
      baseline: what must be beaten.
      restore_best_weights: whether the weights of the best epoch come back.
    """

    def __init__(
        self, monitor: str = "val_loss", min_delta: float = 0, patience: int = 0,
        verbose: int = 0, mode: str = "auto", baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:  # fmt: skip
        self._set_mode(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights = restore_best_weights
        self.best_weights: Any = None
        self.wait = self.stopped_epoch = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins anew."""
        self.wait = self.stopped_epoch = 0
        worst = np.inf if self.less else -np.inf
        self.best = worst if self.baseline is None else self.baseline

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Looks at the value."""
        value = self._value(logs)
        if value is None:
            return
        if self._better(value):
            self.best, self.wait = value, 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait < self.patience:
            return
        self.stopped_epoch = epoch
        self.model.stop_training = True
        if self.restore_best_weights:
            if self.verbose > 0:
                print("Restoring model weights from the end of the best epoch.")
            self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Any = None) -> None:
        """Says when it stopped."""
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")


class ModelCheckpoint(_Watching):
    """Saves the model, or its weights, after epochs.

    Args:
      filepath: prefix, in which ``{epoch}`` and names of the logs may stand.
      monitor: name of the value that says which epoch is best.
      verbose: whether to say so.
      save_best_only: whether only better epochs are saved.
      save_weights_only: whether weights alone are saved, else the whole model (HDF5).
      mode: ``"min"``, ``"max"`` or ``"auto"``, by the name.
      save_freq: ``"epoch"``.
      **kwargs: ``period``, epochs from one save to the next.

    Raises:
      ValueError: another frequency.
    """

    def __init__(
        self, filepath: str, monitor: str = "val_loss", verbose: int = 0,
        save_best_only: bool = False, save_weights_only: bool = False, mode: str = "auto",
        save_freq: Any = "epoch", **kwargs: Any,
    ) -> None:  # fmt: skip
        if save_freq != "epoch":
            raise ValueError(f"Unrecognized save_freq: {save_freq}; 'epoch' is supported")
        self._set_mode(monitor, mode)
        self.filepath, self.verbose, self.save_best_only = filepath, verbose, save_best_only
        self.save_weights_only = save_weights_only
        self.period, self._since = kwargs.pop("period", 1), 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Saves, if it is time."""
        self._since += 1
        if self._since < self.period:
            return
        self._since = 0
        path = self.filepath.format(epoch=epoch + 1, **(logs or {}))
        said = f"\nEpoch {epoch + 1:05d}: "
        if self.save_best_only:
            value = self._value(logs)
            if value is None:
                return
            if not self._better(value):
                if self.verbose > 0:
                    print(f"{said}{self.monitor} did not improve from {self.best:0.5f}")
                return
            said += f"{self.monitor} improved from {self.best:0.5f} to {value:0.5f}, "
            self.best = value
        if self.verbose > 0:
            print(f"{said}saving model to {path}")
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if self.save_weights_only:
            self.model.save_weights(path)
        else:
            self.model.save(path)


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch.

    Args:
      schedule: function of the epoch, or of the epoch and the rate, whose result is the rate.
      verbose: whether to say so.
    """

    def __init__(self, schedule: Callable[..., Any], verbose: int = 0) -> None:
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Sets the rate.

        Raises:
          ValueError: the schedule gives no number.
        """
        rate = _rate(self.model)
        try:
            found = self.schedule(epoch, rate)
        except TypeError:
            found = self.schedule(epoch)
        if not isinstance(found, float | np.floating):
            raise ValueError('The output of the "schedule" function should be float.')
        self.model.optimizer.lr = float(found)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to"
                  f" {found}.")  # fmt: skip

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Notes the rate."""
        if logs is not None:
            logs["lr"] = _rate(self.model)


class ReduceLROnPlateau(_Watching):
    """Lowers the learning rate when a value no longer becomes better.

    Args:
      monitor: name of the value in the logs.
      factor: what the rate is multiplied by, below 1.
      patience: epochs to wait.
      verbose: whether to say so.
      mode: ``"min"``, ``"max"`` or ``"auto"``, by the name.
      min_delta: what counts as better.
      cooldown: epochs after a change in which nothing is counted.
      min_lr: the least rate.

    Raises:
      ValueError: a factor of 1 or more.
    """

    def __init__(
        self, monitor: str = "val_loss", factor: float = 0.1, patience: int = 10,
        verbose: int = 0, mode: str = "auto", min_delta: float = 1e-4, cooldown: int = 0,
        min_lr: float = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        self._set_mode(monitor, mode, kwargs.get("epsilon", min_delta))
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.wait = self.cooldown_counter = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins anew."""
        self.best = np.inf if self.less else -np.inf
        self.wait = self.cooldown_counter = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Looks at the value."""
        if logs is not None:
            logs["lr"] = _rate(self.model)
        value = self._value(logs)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(value):
            self.best, self.wait = value, 0
            return
        if self.cooldown_counter > 0:
            return
        self.wait += 1
        rate = float(_rate(self.model))
        if self.wait >= self.patience and rate > self.min_lr:
            lower = max(rate * self.factor, self.min_lr)
            self.model.optimizer.lr = lower
            if self.verbose > 0:
                print(f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to"
                      f" {lower}.")  # fmt: skip
            self.cooldown_counter, self.wait = self.cooldown, 0


class CSVLogger(Callback):
    """Writes the results of epochs into a file, one a line.

    Args:
      filename: the file.
      separator: between values.
      append: whether to go on in a file that is there.
    """

    def __init__(self, filename: str, separator: str = ",", append: bool = False) -> None:
        self.filename, self.sep, self.append = filename, separator, append

    def on_train_begin(self, logs: Any = None) -> None:
        """Opens the file."""
        has = self.append and os.path.exists(self.filename) and os.path.getsize(self.filename)
        self._header = not has
        self._file = open(self.filename, "a" if self.append else "w", newline="")
        self._writer: Any = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Writes a line."""
        logs = logs or {}
        if self._writer is None:
            keys = sorted(logs)
            self._writer = csv.DictWriter(
                self._file, ["epoch", *keys], delimiter=self.sep, lineterminator="\n"
            )
            if self._header:
                self._writer.writeheader()
        self._writer.writerow({"epoch": epoch, **logs})
        self._file.flush()

    def on_train_end(self, logs: Any = None) -> None:
        """Closes the file."""
        self._file.close()


def _rate(model: Any) -> Any:
    rate = model.optimizer.lr
    return sessions.values_of([rate])[0] if hasattr(rate, "dtype") else rate
