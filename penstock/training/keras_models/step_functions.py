"""``tf.keras.backend.function``: a step in Keras's session as a Python function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.composite import SparseTensor, SparseTensorValue
from penstock.library.layer_base import sessions
from penstock.ops.control import control
from penstock.ops.state import state
from penstock.training.keras_models.cut_graphs import cut, is_cut


class StepFunction:
    """A step with its feeds, which ``function`` makes.

    ``inputs`` and ``outputs`` are what it was made with, ``updates_op`` runs its updates;
    ``feed_dict`` is fed and ``fetches`` run in addition, with ``run_options`` and ``run_metadata``.
    A program may set these between calls.
    """

    def __init__(
        self, inputs: Any, outputs: Any, updates: Sequence[Any], name: str | None,
        feed_dict: Any = None, fetches: Any = None, options: Any = None, run_metadata: Any = None,
    ) -> None:  # fmt: skip
        self.inputs, self.outputs, self.name = nest.flatten(inputs), outputs, name
        self.feed_dict, self.run_options, self.run_metadata = feed_dict, options, run_metadata
        self.fetches: list[Any] = list(fetches or ())
        flat = nest.flatten(outputs)
        with scopes.control_dependencies([one for one in flat if one is not None]):
            made = [state.assign(*one) if isinstance(one, tuple) else one for one in updates]
            self.updates_op = control.group(*made)

    def __call__(self, inputs: Any) -> Any:
        """Runs it: the values of its outputs.

        Args:
          inputs: arrays; a tensor stands for the value that it has, and None is not fed.

        Raises:
          ValueError: there are more or fewer inputs than the function has.
        """
        given = list(inputs) if isinstance(inputs, list | tuple) else nest.flatten(inputs)
        if len(given) != len(self.inputs):
            raise ValueError(
                f"this function takes {len(self.inputs)} inputs; {len(given)} were given"
            )
        flat = nest.flatten(self.outputs)
        if flat and all(map(is_cut, flat)):
            pairs = [(k, v) for k, v in zip(self.inputs, given, strict=True) if is_cut(k)]
            values = cut([key for key, _ in pairs], flat)(*(value for _, value in pairs))
            return nest.pack_sequence_as(self.outputs, values)
        feed = dict(self.feed_dict or {})
        known = [(k, v) for k, v in zip(self.inputs, given, strict=True) if hasattr(k, "op")]
        for key, value in known:
            if value is not None and not hasattr(value, "op"):
                feed[key] = _sparse(value) if isinstance(key, SparseTensor) else value
        session = sessions.get_session()
        tensors = {key: value for key, value in known if hasattr(value, "op")}
        if tensors:
            feed.update(zip(tensors, session.run(list(tensors.values()), feed), strict=True))
        fetched = [self.outputs, self.updates_op, self.fetches]
        if self.run_options is None and self.run_metadata is None:
            return session.run(fetched, feed)[0]
        return session.run(fetched, feed, self.run_options, self.run_metadata)[0]


def _sparse(value: Any) -> Any:
    """A matrix of SciPy as what a sparse placeholder takes."""
    if not hasattr(value, "tocoo"):
        return value
    found = value.tocoo()
    places = np.stack([found.row, found.col], axis=1).astype(np.int64)
    return SparseTensorValue(places, found.data, found.shape)


def function(
    inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **kwargs: Any
) -> Any:
    """A Python function that runs a step in Keras's session.

    Args:
      inputs: what is fed, a list.
      outputs: what is computed, a tensor or a list.
      updates: ops that run, too, or pairs of a variable and its new value.
      name: the function's.
      **kwargs: ``feed_dict``, ``fetches``, ``options`` and ``run_metadata``, which each of its
        steps has in addition.

    Returns:
      A function of a list of arrays.

    Raises:
      ValueError: another keyword.

    Example:
      >>> import penstock as tf
      >>> K = tf.keras.backend
      >>> with tf.Graph().as_default(), tf.Session():
      ...     x = K.placeholder([2])
      ...     K.function([x], [K.sum(x)])([[1.0, 2.0]])
      [np.float32(3.0)]
    """
    check_keywords(kwargs, ("feed_dict", "fetches"))
    return StepFunction(inputs, outputs, list(updates or ()), name, **kwargs)


def check_keywords(given: Iterable[str], more: Sequence[str] = ()) -> None:
    """Refuses what no run of a session takes.

    Args:
      given: names of arguments.
      more: names that are allowed beside ``options`` and ``run_metadata``.

    Raises:
      ValueError: a name is another.
    """
    allowed = sorted(["options", "run_metadata", *more])
    for key in given:
        if key not in allowed:
            raise ValueError(
                f'Invalid argument "{key}" passed to K.function with TensorFlow backend; it takes'
                f" {allowed}"
            )
