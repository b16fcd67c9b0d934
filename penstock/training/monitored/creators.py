"""What makes the sessions of a ``MonitoredSession``, the first one and those after a failure."""

from __future__ import annotations

import abc
from typing import Any

from penstock.foundation.graph import scopes
from penstock.training.monitored.scaffold import Scaffold
from penstock.training.monitored.session_manager import SessionManager


class SessionCreator(abc.ABC):
    """Makes sessions."""

    @abc.abstractmethod
    def create_session(self) -> Any:
        """A new session whose model is ready."""


class _WithScaffold(SessionCreator):
    """What both creators share: the scaffold's ops, and one manager made from them."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._made_manager: SessionManager | None = None

    def _manager(self) -> SessionManager:
        if self._made_manager is None:
            self._made_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=scopes.get_default_graph(),
            )
        return self._made_manager


class ChiefSessionCreator(_WithScaffold):
    """Makes the sessions of a chief: restores a checkpoint, or initializes.

    Args:
      scaffold: supplies the ops; default is one that makes them all.
      master: target of the sessions.
      config: a ``ConfigProto`` for them.
      checkpoint_dir: the latest checkpoint in this directory is restored, unless the model lives
        on servers and has gone on from there.
      checkpoint_filename_with_path: this checkpoint is restored.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename = checkpoint_filename_with_path

    def create_session(self) -> Any:
        """A new session with the model restored or initialized."""
        scaffold = self._scaffold.finalize()
        return self._manager().prepare_session(
            self._master,
            saver=scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename,
            config=self._config,
            init_op=scaffold.init_op,
            init_feed_dict=scaffold.init_feed_dict,
            init_fn=scaffold.init_fn,
        )


class WorkerSessionCreator(_WithScaffold):
    """Makes the sessions of a worker, which waits until the chief has the model ready.

    Args:
      scaffold: supplies the ops; default is one that makes them all.
      master: target of the sessions.
      config: a ``ConfigProto`` for them.
      max_wait_secs: the longest wait, in seconds.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        max_wait_secs: float = 1800,
    ) -> None:
        super().__init__(scaffold, master, config)
        self.max_wait_secs = max_wait_secs

    def create_session(self) -> Any:
        """A new session with the model ready.

        Raises:
          tf.errors.DeadlineExceededError: the chief did not make it ready in time.
        """
        self._scaffold.finalize()
        return self._manager().wait_for_session(
            self._master, config=self._config, max_wait_secs=self.max_wait_secs
        )
