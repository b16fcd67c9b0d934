"""The pieces that a training session needs: init ops, readiness, summaries, saver.

Each is the one that the user gave, else the only member of its collection, else made now and put
there.  Nodes are those of ``tf.train.Scaffold`` in TensorFlow 1.15.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import initialized, listing
from penstock.ops.array import join
from penstock.ops.control import control
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.checkpoint.trackable import Checkpoint
from penstock.storage.summary.build import merge_all
from penstock.training.data.lookup_initializers import tables_initializer
from penstock.training.monitored import shared_resources

_log = logging.getLogger("penstock")
# What another scaffold may supply.
_COPIED = (
    "_init_op", "_init_feed_dict", "_user_init_fn", "_ready_op", "_ready_for_local_init_op",
    "_local_init_op", "_summary_op", "_saver",
)  # fmt: skip


class Scaffold:
    """Gathers, or makes, what is needed to initialize, check, summarize and save a model.

    Args:
      init_op: initializes the model.
      init_feed_dict: what to feed to it.
      init_fn: ``f(scaffold, session)``, called after ``init_op`` has run.
      ready_op: a 1-D string tensor that names what is not initialized; empty when all is ready.
      ready_for_local_init_op: the same, of what must be there before ``local_init_op`` runs.
      local_init_op: initializes what belongs to this process alone: local variables, tables.
      summary_op: all summaries, merged.
      saver: a ``Saver`` or ``Checkpoint``.
      copy_from_scaffold: another scaffold that supplies what is not given here.

    Raises:
      TypeError: ``copy_from_scaffold`` is something else.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default() as graph:
      ...     v = tf.Variable(1.0)
      ...     scaffold = tf.train.Scaffold().finalize()
      ...     scaffold.init_op.name, graph.finalized
      ('group_deps', True)
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Any, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Any = None,
    ) -> None:
        self._init_op = init_op
        self._init_feed_dict = init_feed_dict
        self._user_init_fn = init_fn
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._local_init_op = local_init_op
        self._summary_op = summary_op
        self._saver = saver
        if copy_from_scaffold is not None:
            self._take_missing(copy_from_scaffold)

    def _take_missing(self, other: Any) -> None:
        if not isinstance(other, Scaffold):
            raise TypeError(f"copy_from_scaffold must be a Scaffold; found {type(other).__name__}")
        for name in _COPIED:
            if getattr(self, name) is None:
                setattr(self, name, getattr(other, name))

    def finalize(self) -> Scaffold:
        """Makes what is missing and finalizes the default graph.

        Returns:
          The scaffold.

        Raises:
          RuntimeError: a collection holds several pieces of one kind, and none was chosen.
        """
        for name, key, make_default in _PIECES:
            if getattr(self, f"_{name}") is None:
                setattr(self, f"_{name}", self.get_or_default(name, key, make_default))
        if self._saver is None:
            self._saver = default_saver()
        if isinstance(self._saver, Checkpoint):
            self._saver = Saver(var_list=self._saver.frozen_saveables(), sharded=True)
        else:
            self._saver.build()
        scopes.get_default_graph().finalize()
        _log.info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """What to call with the session after ``init_op`` has run, or None."""
        user_fn = self._user_init_fn
        return None if user_fn is None else lambda session: user_fn(self, session)

    @property
    def init_op(self) -> Any:
        """What initializes the model."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """What is fed to ``init_op``."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """Names what is not initialized."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """Names what must be initialized before ``local_init_op`` and is not."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """What initializes what belongs to this process alone."""
        return self._local_init_op

    @property
    def summary_op(self) -> Any:
        """All summaries, merged; None where there are none."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """The saver."""
        return self._saver

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], Any]
    ) -> Any:
        """The only member of a collection, or a new one, which is put there.

        Args:
          arg_name: the argument of ``Scaffold`` that would have supplied it, for the message.
          collection_key: the collection.
          default_constructor: makes a new one; None is not put into the collection.

        Raises:
          RuntimeError: the collection holds several.
        """
        found = collecting.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f"the collection {collection_key!r} holds {len(found)} items: {found}; say which"
                f" one with tf.train.Scaffold({arg_name}=...)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            collecting.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Operation:
        """An op that initializes local variables, tables and local resources."""
        return control.group(
            listing.local_variables_initializer(),
            tables_initializer(),
            shared_resources.initialize_resources(shared_resources.local_resources()),
        )


def default_saver() -> Any:
    """The only saver of the collection ``SAVERS``, or a new one of all variables.

    Raises:
      RuntimeError: the collection holds several.
    """
    return Scaffold.get_or_default(
        "saver", GraphKeys.SAVERS, lambda: Saver(sharded=True, allow_empty=True)
    )


def _init_op() -> Operation:
    return control.group(
        listing.global_variables_initializer(),
        shared_resources.initialize_resources(shared_resources.shared_resources()),
    )


def _ready_op() -> Tensor:
    missing = initialized.report_uninitialized_variables()
    return join.concat([missing, shared_resources.report_uninitialized_resources()], 0)


def _ready_for_local_init_op() -> Tensor:
    missing = initialized.report_uninitialized_variables(listing.global_variables())
    resources = shared_resources.shared_resources()
    return join.concat([missing, shared_resources.report_uninitialized_resources(resources)], 0)


# Argument, collection, and what makes the default, in the order in which nodes are added.
_PIECES: list[tuple[str, str, Callable[[], Any]]] = [
    ("init_op", GraphKeys.INIT_OP, _init_op),
    ("ready_op", GraphKeys.READY_OP, _ready_op),
    (
        "ready_for_local_init_op",
        GraphKeys.READY_FOR_LOCAL_INIT_OP,
        _ready_for_local_init_op,
    ),
    ("local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op),
    ("summary_op", GraphKeys.SUMMARY_OP, merge_all),
]
