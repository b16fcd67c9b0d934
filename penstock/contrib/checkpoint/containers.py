"""Containers of tracked objects, which layers see as layers: lists, mappings, names made unique."""

from __future__ import annotations

import collections.abc
from collections.abc import Iterable, Iterator
from typing import Any

from penstock.library.layer_base.tracking import is_layer
from penstock.library.variables.auto_trackable import Trackable
from penstock.library.variables.tracked import attached, is_trackable
from penstock.library.variables.variable import Variable


class _UntrackableError(ValueError):
    """Something that checkpoints do not save."""

    def __init__(self, value: Any) -> None:
        super().__init__(
            "Only trackable objects (such as Layers or Optimizers) may be stored in a List object."
            f" Got {value}, which does not inherit from Trackable."
        )


class _Container(Trackable):
    """What the containers share: the layers and variables in them."""

    def __init__(self) -> None:
        self.trainable = True
        self._tracked: list[tuple[str, Any]] = []

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return list(self._tracked)

    def _track(self, name: str, value: Any) -> None:
        if not is_trackable(value):
            raise _UntrackableError(value)
        self._tracked.append((name, value))
        attached()

    def _members(self) -> list[Any]:
        return [value for _, value in self._tracked]

    @property
    def layers(self) -> list[Any]:
        """The layers in it, those of containers in it included."""
        found: list[Any] = []
        for one in self._members():
            if isinstance(one, _Container):
                found += one.layers
            elif is_layer(one):
                found.append(one)
        return found

    def _of(self, attribute: str) -> list[Any]:
        return [item for layer in self._layer_like() for item in getattr(layer, attribute)]

    def _layer_like(self) -> list[Any]:
        return [one for one in self._members() if is_layer(one)]

    def _own(self, trainable: bool) -> list[Any]:
        held = [one for one in self._members() if isinstance(one, Variable)]
        return [one for one in held if one.trainable is trainable]

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable variables in it; none where ``trainable`` is False."""
        return [*self._of("trainable_weights"), *self._own(True)] if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables in it."""
        own, inner = self._own(False), self._of("non_trainable_weights")
        if self.trainable:
            return [*inner, *own]
        return [*self._of("trainable_weights"), *self._own(True), *inner, *own]

    @property
    def weights(self) -> list[Any]:
        """All variables in it."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    trainable_variables, non_trainable_variables = trainable_weights, non_trainable_weights
    variables = weights

    @property
    def losses(self) -> list[Any]:
        """The losses of the layers in it."""
        return self._of("losses")

    @property
    def updates(self) -> list[Any]:
        """The updates of the layers in it."""
        return self._of("updates")

    @property
    def metrics(self) -> list[Any]:
        """The metrics of the layers in it."""
        return self._of("metrics")

    def _all_updates(self) -> list[Any]:
        return [pair for layer in self._layer_like() for pair in layer._all_updates()]

    def _all_conditional_losses(self) -> list[Any]:
        return [one for layer in self._layer_like() for one in layer._all_conditional_losses()]


class List(_Container, collections.abc.Sequence[Any]):
    """A list of objects that checkpoints save, to which more can be added.

    Args:
      *args: the first members: layers, variables, optimizers, containers.

    Raises:
      ValueError: a member is none of these.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     held = tf.contrib.checkpoint.List([tf.Variable(1.0, name="v")])
      ...     held.append(tf.Variable(2.0, name="w"))
      ...     len(held), [v.name for v in held.variables]
      (2, ['v:0', 'w:0'])
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        self.extend(list(*args))

    def append(self, value: Any) -> None:
        """Adds a member."""
        if isinstance(value, list):
            value = List(value)
        elif isinstance(value, dict):
            value = Mapping(value)
        self._track(str(len(self)), value)

    def extend(self, values: Iterable[Any]) -> None:
        """Adds several members."""
        for value in values:
            self.append(value)

    def copy(self) -> List:
        """A list of the same members."""
        return type(self)(self._members())

    def __iadd__(self, values: Iterable[Any]) -> List:
        self.extend(values)
        return self

    def __add__(self, other: Iterable[Any]) -> List:
        return type(self)([*self, *other])

    def __radd__(self, other: Iterable[Any]) -> List:
        return type(self)([*other, *self])

    def __getitem__(self, key: Any) -> Any:
        return self._members()[key]

    def __len__(self) -> int:
        return len(self._tracked)

    def __eq__(self, other: object) -> bool:
        return bool(self._members() == (list(other) if isinstance(other, List) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"List({self._members()!r})"


class Mapping(_Container, collections.abc.Mapping[str, Any]):
    """A mapping from strings to objects that checkpoints save, to which more can be added.

    Args:
      *args, **kwargs: the first members, as of ``dict``.

    Raises:
      TypeError: a key is no string.
      ValueError: a key comes again, or a member cannot be saved.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     held = tf.contrib.checkpoint.Mapping(v=tf.Variable(1.0, name="v"))
      ...     held["w"] = tf.Variable(2.0, name="w")
      ...     sorted(held)
      ['v', 'w']
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.update(*args, **kwargs)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        if isinstance(value, list):
            value = List(value)
        elif isinstance(value, dict):
            value = Mapping(value)
        if not is_trackable(value):
            raise _UntrackableError(value)
        if key not in self:
            self._track(key, value)
        elif self[key] is not value:
            raise ValueError(
                "Mappings are an append-only data structure. Tried to overwrite the key"
                f" {key!r} with value {value}, but it already contains {self[key]}"
            )

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds several members."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key: str) -> Any:
        return dict(self._tracked)[key]

    def __len__(self) -> int:
        return len(self._tracked)

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self._tracked))

    def __eq__(self, other: object) -> bool:
        return bool(dict(self) == (dict(other) if isinstance(other, Mapping) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Mapping({dict(self._tracked)!r})"


class UniqueNameTracker(_Container):
    """Tracks objects under names that it makes unique: ``name``, ``name_1``, ``name_2``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     names = tf.contrib.checkpoint.UniqueNameTracker()
      ...     v, w = (names.track(tf.Variable(i), "slot") for i in (0, 1))
      ...     len(tf.contrib.checkpoint.list_objects(names))
      3
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}

    def track(self, trackable: Any, base_name: str) -> Any:
        """Tracks an object.

        Args:
          trackable: the object.
          base_name: its name, to which a number is added where it is taken.

        Returns:
          The object.

        Raises:
          ValueError: it cannot be saved.
        """
        if not is_trackable(trackable):
            raise ValueError(
                f"Expected a trackable value, got {trackable} which does not inherit from"
                " tf.track.Trackable."
            )
        taken = {name for name, _ in self._tracked}
        name = base_name
        while name in taken:
            self._counts[base_name] = self._counts.get(base_name, 0) + 1
            name = f"{base_name}_{self._counts[base_name]}"
        self._track(name, trackable)
        return trackable
