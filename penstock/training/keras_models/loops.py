"""``fit``, ``evaluate`` and ``predict`` of a model, over arrays and over what comes in batches."""

from __future__ import annotations

from functools import partial
from typing import Any

from penstock.foundation.graph import scopes
from penstock.training.keras_models import fitting, stream_fitting, streams
from penstock.training.keras_models.network import only
from penstock.training.keras_models.streams import Stream


def _refuse_targets(x: Any, y: Any, sample_weight: Any) -> None:
    for name, given in (("target (`y`)", y), ("`sample_weight`", sample_weight)):
        if given is not None:
            raise ValueError(
                f"You passed a dataset or dataset iterator ({x}) as input `x` to your model. In"
                f" that case, you should not specify a {name} argument, since the dataset or"
                " dataset iterator generates both input data and target data."
            )


class Loops:
    """The loops of a model, beside its steps."""

    standardized: Any
    standardized_inputs: Any
    inputs: Any
    _fed_inputs: Any

    def fit(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, epochs: int = 1,
        verbose: int = 1, callbacks: Any = None, validation_split: float = 0.0,
        validation_data: Any = None, shuffle: Any = True, class_weight: Any = None,
        sample_weight: Any = None, initial_epoch: int = 0, steps_per_epoch: int | None = None,
        validation_steps: int | None = None, validation_freq: Any = 1, max_queue_size: int = 10,
        workers: int = 1, use_multiprocessing: bool = False,
    ) -> Any:  # fmt: skip
        """Trains on arrays, or on batches of a dataset, a ``Sequence`` or a generator.

        Args:
          x, y: inputs and targets: arrays, lists of arrays, or dicts by name; or x alone, what
            gives batches ``(x, y)`` or ``(x, y, weights)``.
          batch_size: of arrays; default 32.
          epochs: past the last epoch; ``initial_epoch`` is the first.
          verbose: 0 silent, 1 a progress bar, 2 a line an epoch.
          callbacks: of ``tf.keras.callbacks``.
          validation_split: the part of arrays at the end that is not trained on, but evaluated.
          validation_data: (x, y) or (x, y, weights), or what gives batches, to evaluate after
            epochs.
          shuffle: whether samples, or the batches of a ``Sequence``, come in a new order each
            epoch; "batch": those of a batch stay together, as an ``HDF5Matrix`` needs it.
          class_weight, sample_weight: how much samples count.
          initial_epoch: number of the first epoch.
          steps_per_epoch, validation_steps: how many batches an epoch, or a validation, has; a
            batch of arrays is then all of them.
          validation_freq: epochs from one evaluation to the next, or a list of such epochs.
          max_queue_size, workers, use_multiprocessing: accepted; batches are made in this thread.

        Returns:
          A ``History``.

        Raises:
          ValueError: targets beside what gives batches, or no number of steps where it is needed.
        """
        x, y, sample_weight = self._repeated(
            x, y, sample_weight, steps_per_epoch, "steps_per_epoch", batch_size
        )
        if streams.is_stream(x):
            _refuse_targets(x, y, sample_weight)
            stream = streams.stream_of(x, steps_per_epoch, "steps_per_epoch", shuffle)
            validation = self._held_out(validation_data, validation_steps)
            self._prepare(stream)
            is_dataset = not hasattr(x, "__next__") and not isinstance(x, streams.Sequence)
            return stream_fitting.fit(
                self, stream, validation, epochs, verbose, callbacks or [], class_weight,
                initial_epoch, validation_freq, is_dataset,
            )  # fmt: skip
        data = self.standardized(x, y, sample_weight, class_weight)
        if validation_data is not None:
            held: Any = self._held_out(validation_data, validation_steps)
        else:
            data, held = fitting.split(data, validation_split)
        size = self._batch(batch_size, steps_per_epoch, len(data[0][0]))
        validate = held and partial(stream_fitting.validated, self, held, size, 0)
        return fitting.fit(
            self, data, validate, stream_fitting.told(held), size, epochs, verbose,
            callbacks or [], shuffle, initial_epoch, validation_freq,
        )  # fmt: skip

    def _repeated(
        self, x: Any, y: Any, weights: Any, steps: int | None, what: str, batch_size: int | None
    ) -> tuple[Any, Any, Any]:
        """What is given, as batches where it is tensors or a graph runs for a number of steps.

        Each step has all samples then, as in TensorFlow.

        Raises:
          ValueError: tensors without a number of steps, or with a size of batches beside it.
        """
        if streams.is_stream(x):
            return x, y, weights
        unfed = x is None and bool(self.inputs) and not self._fed_inputs()
        tensors = unfed or streams.has_tensors(x, y, weights)
        in_steps = steps is not None and not scopes.get_default_graph().executes
        if not (tensors or in_steps):
            return x, y, weights
        if tensors and steps is not None and batch_size is not None:
            raise ValueError(
                f"If {what} is set, the `batch_size` must be None: tensors have batches of their"
                f" own; found {batch_size}"
            )
        return streams.repeated(x, y, weights, steps, what), None, None

    def _batch(self, given: int | None, steps: int | None, samples: int) -> int:
        """The size of batches of arrays: as given, as the inputs say, or 32.

        Where calls run, samples are spread over the number of steps, if there is one.

        Raises:
          ValueError: given and inputs say different ones.
          ZeroDivisionError: it is zero.
        """
        if given == 0:
            raise ZeroDivisionError("float division by zero: `batch_size` is 0")
        first = self.inputs[0]
        symbolic = first.shape.ndims and not first.has_value  # else it is a sample
        known = first.shape.as_list()[0] if symbolic else None
        if given and known and given != known:
            raise ValueError(
                f"The `batch_size` argument value {given} is incompatible with the specified batch"
                f" size of your Input Layer: {known}"
            )
        return given or known or (32 if steps is None else -(-samples // steps))

    def _prepare(self, stream: Stream) -> None:
        """A subclass that was never called has its inputs from the first batch."""
        if getattr(self, "outputs", None) is None:
            raise ValueError(
                "a model without inputs must be called, or trained on arrays, before it is trained"
                " on what comes in batches"
            )

    def _held_out(self, given: Any, steps: int | None) -> Any:
        if given is None:
            return None
        if streams.is_stream(given):
            return streams.stream_of(given, steps, "validation_steps")
        if not isinstance(given, list | tuple) or len(given) not in (2, 3):
            raise ValueError(
                "When passing a `validation_data` argument, it must contain either 2 items (x_val,"
                " y_val), or 3 items (x_val, y_val, val_sample_weights), or be what gives batches;"
                f" found {given!r}"
            )
        x, y, weights = (*given, None)[:3]
        if streams.has_tensors(x, y, weights):
            what = "validation_steps"
            return streams.stream_of(streams.repeated(x, y, weights, steps, what), steps, what)
        return self.standardized(x, y, weights, None)

    def evaluate(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, verbose: int = 1,
        sample_weight: Any = None, steps: int | None = None, callbacks: Any = None,
        max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False,
    ) -> Any:  # fmt: skip
        """The losses and metrics of arrays or batches; arguments as of ``fit``.

        Args:
          steps: how many batches, where x gives batches.

        Returns:
          The loss, or with metrics a list as of ``metrics_names``.
        """
        x, y, sample_weight = self._repeated(x, y, sample_weight, steps, "steps", batch_size)
        if streams.is_stream(x):
            _refuse_targets(x, y, sample_weight)
            stream = streams.stream_of(x, steps, "steps")
            found = stream_fitting.evaluate(self, stream, verbose, callbacks or [])
        else:
            data = self.standardized(x, y, sample_weight, None)
            size = self._batch(batch_size, steps, len(data[0][0]))
            found = fitting.evaluate(self, data, size, verbose, callbacks or [])
        return found[0] if len(found) == 1 else found

    def predict(
        self, x: Any, batch_size: int | None = None, verbose: int = 0, steps: int | None = None,
        callbacks: Any = None, max_queue_size: int = 10, workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:  # fmt: skip
        """The outputs for arrays or batches of inputs; arguments as of ``evaluate``."""
        x, _, _ = self._repeated(x, None, None, steps, "steps", batch_size)
        if streams.is_stream(x):
            stream = streams.stream_of(x, steps, "steps")
            return only(stream_fitting.predict(self, stream, verbose, callbacks or []))
        inputs = self.standardized_inputs(x)
        size = self._batch(batch_size, steps, len(inputs[0]))
        return only(fitting.predict(self, inputs, size, verbose, callbacks or []))

    # ---- under their older names ---------------------------------------------------------------

    def fit_generator(
        self, generator: Any, steps_per_epoch: int | None = None, epochs: int = 1,
        verbose: int = 1, callbacks: Any = None, validation_data: Any = None,
        validation_steps: int | None = None, validation_freq: Any = 1, class_weight: Any = None,
        max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False,
        shuffle: bool = True, initial_epoch: int = 0,
    ) -> Any:  # fmt: skip
        """Trains on batches; ``fit`` with the generator as ``x``."""
        return self.fit(
            generator, epochs=epochs, verbose=verbose, callbacks=callbacks,
            validation_data=validation_data, shuffle=shuffle, class_weight=class_weight,
            initial_epoch=initial_epoch, steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps, validation_freq=validation_freq,
        )  # fmt: skip

    def evaluate_generator(
        self, generator: Any, steps: int | None = None, callbacks: Any = None,
        max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:  # fmt: skip
        """The losses and metrics of batches; ``evaluate`` with the generator as ``x``."""
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(
        self, generator: Any, steps: int | None = None, callbacks: Any = None,
        max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:  # fmt: skip
        """The outputs for batches; ``predict`` with the generator as ``x``."""
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)
