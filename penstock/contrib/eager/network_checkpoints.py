"""Checkpoints of a ``Network`` by its variables' names, and variables that begin as saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock.contrib.eager.network import Network
from penstock.foundation.graph.behavior import executing_eagerly
from penstock.foundation.graph.scopes import get_default_session
from penstock.library.variables.creation import variable_creator_scope
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.storage.checkpoint.reader import NewCheckpointReader
from penstock.storage.checkpoint.saver import Saver

Names = Callable[[str], str]


def save_network_checkpoint(
    network: Network, save_path: Any, global_step: Any = None, map_func: Names | None = None
) -> str | None:
    """Writes the variables of a network.

    Args:
      network: a network that was called.
      save_path: prefix of the files; in a directory, the network's name.
      global_step: a number that is added to the prefix.
      map_func: from a variable's name to that in the checkpoint; default without the network's.

    Returns:
      The prefix with the number.

    Raises:
      ValueError: the network has no variables yet, or two would have one name.

    Example:
      >>> import penstock as tf
      >>> class One(tf.contrib.eager.Network):
      ...     def __init__(self):
      ...         super().__init__()
      ...         self.dense = self.track_layer(tf.layers.Dense(2))
      ...     def call(self, x):
      ...         return self.dense(x)
      >>> import tempfile
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     one = One()
      ...     _ = one(tf.ones([1, 3]))
      ...     sess.run(tf.global_variables_initializer())
      ...     path = tf.contrib.eager.save_network_checkpoint(one, tempfile.mkdtemp())
      >>> [name for name, _ in tf.train.list_variables(path)]
      ['dense/bias', 'dense/kernel']
    """
    if not network.built:
        raise ValueError(
            "Attempt to save the Network before it was first called. This means variables have not"
            " yet been created, so there is nothing to save."
        )
    named = _named(network, map_func, "save_network_checkpoint")
    saver = Saver(named, max_to_keep=None)
    path = _path(network, save_path)
    return saver.save(_session(), path, global_step, write_meta_graph=False)


def restore_network_checkpoint(
    network: Network, save_path: Any, map_func: Names | None = None
) -> None:
    """Gives the variables of a network their values in a checkpoint, now or as they are made.

    Args:
      network: a network; where it was not called yet, its variables begin as saved, those that
        the checkpoint has.
      save_path: the prefix, or the directory that ``save_network_checkpoint`` was given.
      map_func: from a variable's name to that in the checkpoint; default without the network's.

    Raises:
      ValueError: two variables would have one name.
      tf.errors.NotFoundError: there is no checkpoint, or it lacks a variable of a network that was
        called.
    """
    path = _path(network, save_path)
    reader = NewCheckpointReader(path)
    if network.built:
        named = _named(network, map_func, "restore_network_checkpoint")
        Saver(named).restore(_session(), path)
        return
    network.begin_as(lambda: _beginning(network, reader, map_func))


@contextmanager
def restore_variables_on_create(save_path: Any, map_func: Names | None = None) -> Iterator[None]:
    """Variables that are made in a ``with`` block begin with their values in a checkpoint.

    Args:
      save_path: the prefix; None changes nothing.
      map_func: from a variable's name to that in the checkpoint.

    Raises:
      ValueError: operations do not run as they are called, or ``map_func`` is no function.
      tf.errors.NotFoundError: (as a variable is made) the checkpoint lacks it.
    """
    if not executing_eagerly():
        raise ValueError(
            "Currently, restore_variables_on_create can only be used with eager execution enabled."
        )
    if not save_path:
        yield
        return
    if map_func is not None and not callable(map_func):
        raise ValueError(f"map_func must be callable; found {map_func!r}")
    reader, made = NewCheckpointReader(os.fspath(save_path)), ResourceVariable.__init__

    # ``tf.contrib.eager.Variable`` is this class itself, which no creator scope sees.
    def begin(self: Any, initial_value: Any = None, *args: Any, **kwargs: Any) -> None:
        name = kwargs.get("name")
        if name is not None:
            initial_value = reader.get_tensor(map_func(name) if map_func else name)
        made(self, initial_value, *args, **kwargs)

    ResourceVariable.__init__ = begin  # type: ignore[method-assign]
    try:
        yield
    finally:
        ResourceVariable.__init__ = made  # type: ignore[method-assign]


def _path(network: Network, given: Any) -> str:
    path = os.fspath(given)
    # A path without a name of its own gets the network's.
    return os.path.join(path, network.name) if os.path.isdir(path) else path


def _session() -> Any:
    return None if executing_eagerly() else get_default_session()


def _plain(variable: Any) -> str:
    return str(variable.name).partition(":")[0]


def _stripped(network: Network) -> Names:
    # The scope's name is final when the first variable is made.
    return lambda name: name.removeprefix(f"{network.scope_name}/")


def _named(network: Network, map_func: Names | None, asker: str) -> dict[str, Any]:
    """The variables by their names in the checkpoint."""
    rename = map_func or _stripped(network)
    found: dict[str, Any] = {}
    for variable in network.variables:
        name = rename(_plain(variable))
        if name in found:
            raise ValueError(
                f"The map_func passed to {asker} for the Network {network.name!r} resulted in two"
                f" variables named {name!r} ({_plain(found[name])!r} and {_plain(variable)!r})."
                " Names in a checkpoint must differ: strip less of them"
            )
        found[name] = variable
    return found


@contextmanager
def _beginning(network: Network, reader: Any, map_func: Names | None) -> Iterator[None]:
    """The network's variables that are made in here begin as the checkpoint says."""
    rename = map_func or _stripped(network)

    def begin(next_creator: Any, **kwargs: Any) -> Any:
        saved = rename(kwargs["name"])
        if reader.has_tensor(saved):
            kwargs["initial_value"] = reader.get_tensor(saved)
        return next_creator(**kwargs)

    with variable_creator_scope(begin):
        yield
