"""The hook that starts synchronous replicas; ``SyncReplicasOptimizer.make_session_run_hook``."""

from __future__ import annotations

from typing import Any

from penstock.training.monitored.hook import SessionRunHook


class SyncReplicasHook(SessionRunHook):
    """Initializes what synchronizes replicas in each new session; the chief also runs its queue.

    Args:
      sync_optimizer: the ``SyncReplicasOptimizer``.
      is_chief: whether this replica averages and applies.
      num_tokens: tokens that the chief puts into the queue first; -1 for its default.
    """

    def __init__(self, sync_optimizer: Any, is_chief: bool, num_tokens: int) -> None:
        self._optimizer, self._is_chief, self._num_tokens = sync_optimizer, is_chief, num_tokens
        self._local_init_op: Any = None
        self._ready_op: Any = None
        self._init_tokens_op: Any = None
        self._last_tokens_op: Any = None
        self._queue_runner: Any = None

    def begin(self) -> None:
        """Adds the node that makes tokens.

        Raises:
          ValueError: ``apply_gradients`` has not been called.
        """
        optimizer = self._optimizer
        if not optimizer._gradients_applied:
            raise ValueError(
                "the hook of a SyncReplicasOptimizer is used before its apply_gradients (or"
                " minimize) was called"
            )
        self._ready_op = optimizer.ready_for_local_init_op
        self._local_init_op = optimizer.local_step_init_op
        if self._is_chief:
            self._local_init_op = optimizer.chief_init_op
            self._queue_runner = optimizer.get_chief_queue_runner()
            self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens)
            # For the step that a replica is in, and one more, which sees the last step count.
            self._last_tokens_op = optimizer.get_init_tokens_op(2 * optimizer._total_num_replicas)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Initializes, puts tokens into the queue, and starts the chief's queue runner.

        Raises:
          RuntimeError: global variables have no value.
        """
        missing = session.run(self._ready_op)
        if missing.size:
            names = ", ".join(name.decode() for name in missing)
            raise RuntimeError(
                f"Init operations did not make model ready for SyncReplicasOptimizer local_init;"
                f" Init op: {self._local_init_op.name}, variables not initialized: {names}"
            )
        session.run(self._local_init_op)
        if self._init_tokens_op is not None:
            session.run(self._init_tokens_op)
        if self._queue_runner is not None:
            self._queue_runner.create_threads(
                session, coord=_Unjoined(coord), daemon=True, start=True
            )

    def end(self, session: Any) -> None:
        """Lets replicas go that wait for a token, which nobody hands out any more."""
        if self._last_tokens_op is not None:
            session.run(self._last_tokens_op)


class _Unjoined:
    """A coordinator that does not wait for the threads it is given.

    At the end of training the chief's thread waits for gradients that nobody computes any more;
    closing the session ends it, which joining it first would keep from happening.
    """

    def __init__(self, coordinator: Any) -> None:
        self._coordinator = coordinator

    def register_thread(self, thread: Any) -> None:
        """Registers nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coordinator, name)
