"""Objects that track their attributes: what checkpoints and SavedModels find by the way to it.

Tracked are the attributes that ``tracked.is_trackable`` knows, in the order in which they were set.
"""

from __future__ import annotations

import os
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import get_default_graph
from penstock.library.variables.tracked import attached, is_trackable


class NoDependency:
    """Keeps an attribute of a trackable object from being tracked; the attribute is the value.

    Args:
      value: of the attribute.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     root = tf.train.Checkpoint()
      ...     root.v = tf.contrib.checkpoint.NoDependency(tf.Variable(1.0))
      ...     root.v.name, len(tf.contrib.checkpoint.list_objects(root))
      ('Variable:0', 1)
    """

    def __init__(self, value: Any) -> None:
        self.value = value


class Trackable:
    """Base of classes whose objects checkpoints may be made of; it tracks nothing itself.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     root = tf.train.Checkpoint(part=tf.contrib.checkpoint.CheckpointableBase())
      ...     len(tf.contrib.checkpoint.list_objects(root))
      2
    """

    _checkpoint_dependencies: Any = ()

    def _no_dependency(self, value: Any) -> Any:
        """What an attribute is set to so that it is not tracked, under the name libraries know."""
        return value


class AutoTrackable(Trackable):
    """Base of classes whose attributes are tracked: variables, layers, lists and dicts of them.

    Example:
      >>> import penstock as tf
      >>> from penstock.python.training.tracking import tracking
      >>> with tf.Graph().as_default():
      ...     root = tracking.AutoTrackable()
      ...     root.v, root.n = tf.Variable(1.0), 3
      ...     [type(each).__name__ for each in tf.contrib.checkpoint.list_objects(root)]
      ['AutoTrackable', 'RefVariable']
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, kept_apart(self, name, value))
        if is_trackable(value):
            attached()

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)


def kept_apart(item: Any, name: str, value: Any) -> Any:
    """The value of an attribute that is being set; notes one that is not to be tracked."""
    untracked = vars(item).get(_UNTRACKED, frozenset())
    if isinstance(value, NoDependency):
        vars(item)[_UNTRACKED] = untracked | {name}
        return value.value
    if name in untracked:
        vars(item)[_UNTRACKED] = untracked - {name}
    return value


_UNTRACKED = "_untracked_attributes"


def tracked_attributes(item: Any) -> list[tuple[str, Any]]:
    """(name, object) of the attributes of an object that are tracked."""
    untracked = vars(item).get(_UNTRACKED, ())
    return [
        (name, value)
        for name, value in vars(item).items()
        if is_trackable(value) and not isinstance(value, tuple) and name not in untracked
    ]


class _TrackedAttributes:
    """What is tracked of an object; a list that the object has itself stands before it."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else tracked_attributes(instance)


AutoTrackable._checkpoint_dependencies = _TrackedAttributes()


class TrackableAsset(Trackable):
    """A file that travels with a SavedModel.

    Args:
      path: of the file.

    Example:
      >>> import penstock as tf
      >>> from penstock.python.training.tracking.tracking import TrackableAsset
      >>> with tf.Graph().as_default():
      ...     TrackableAsset("words.txt").asset_path.dtype
      tf.string
    """

    def __init__(self, path: Any) -> None:
        given = os.fspath(path) if isinstance(path, os.PathLike) else path
        self._path = convert_to_tensor(given, dtypes.string, "asset_path")
        graph = get_default_graph()
        if not graph.executes:
            graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, self._path)

    @property
    def asset_path(self) -> Any:
        """The path, a string tensor."""
        return self._path
