"""Synchronous training of replicas around parameter servers: ``SyncReplicasOptimizer``.

Each variable gets a conditional accumulator.  Replicas add their gradients, tagged with the step at
which they were computed, and then wait for a token.  The chief's queue runner takes the mean of
``replicas_to_aggregate`` gradients a variable, applies it with the wrapped optimizer, counts the
global step and puts one token a replica into ``sync_token_q``; a token is the new step::

    replica:  gradients -> <W:0/grad_accum> ... -> token = dequeue -> local_step = token
    chief:    take the mean -> Momentum -> global_step += 1 -> enqueue tokens

A gradient whose local step is before that of the accumulator is dropped there: that is how a late
replica's work (of a *backup worker*, or one that hung) does no harm.

State of the optimizer object: what ``apply_gradients`` made for the hook (the operations that
initialize, the queue runner, the token queue).  State in the graph: accumulators, the token queue,
one local variable ``sync_rep_local_step`` a replica, all shared by name between sessions.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import creation, initialized, listing
from penstock.ops.array import fill
from penstock.ops.control import control
from penstock.ops.state import state
from penstock.training.data.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from penstock.training.data.queue_runner import QueueRunner
from penstock.training.data.queues import FIFOQueue
from penstock.training.monitored.sync_replicas_hook import SyncReplicasHook
from penstock.training.train.optimizer import Optimizer


class SyncReplicasOptimizer(Optimizer):
    """Averages the gradients of several replicas before it applies them with another optimizer.

    Args:
      opt: the optimizer that computes and applies gradients.
      replicas_to_aggregate: gradients a variable that make one update.
      total_num_replicas: replicas there are; default ``replicas_to_aggregate``. More are backup
        workers: the slowest gradients of a step are dropped. With fewer, replicas compute several
        batches an update.
      variable_averages: an ``ExponentialMovingAverage`` to keep up after each update.
      variables_to_average: its variables.
      use_locking: whether updates take the variable's lock.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     step = tf.train.get_or_create_global_step()
      ...     w = tf.Variable(3.0)
      ...     sgd = tf.train.GradientDescentOptimizer(0.25)
      ...     sync = tf.train.SyncReplicasOptimizer(sgd, replicas_to_aggregate=1)
      ...     train_op = sync.minimize(w * w, global_step=step)
      ...     with tf.Session() as sess:
      ...         sess.run(tf.global_variables_initializer())
      ...         sess.run(sync.chief_init_op)
      ...         coord = tf.train.Coordinator()
      ...         runner = sync.get_chief_queue_runner()
      ...         threads = runner.create_threads(sess, coord, daemon=True, start=True)
      ...         print(sess.run(train_op), float(sess.run(w)))
      ...         coord.request_stop()
      1 1.5
    """

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Sequence[Any] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        super().__init__(use_locking, name)
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        logging.getLogger("penstock").info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s",
            replicas_to_aggregate, total_num_replicas,
        )  # fmt: skip
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total_num_replicas
        self._tokens_per_step = max(total_num_replicas, replicas_to_aggregate)
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._gradients_applied = False
        self._global_step: Any = None
        self._local_step: Any = None
        self._sync_token_queue: Any = None
        self._chief_queue_runner: QueueRunner | None = None
        # Made by apply_gradients; run by the hook, or by a Supervisor.
        self.local_step_init_op: Any = None
        self.ready_for_local_init_op: Any = None
        self.chief_init_op: Any = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """As the wrapped optimizer; gradients are averaged later, in ``apply_gradients``."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: Any = None,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Adds the nodes that collect, average and apply gradients.

        Args:
          grads_and_vars: (gradient, variable) pairs; a gradient is a Tensor, an IndexedSlices or
            None.
          global_step: integer variable to count; needed.
          name: ignored, as in TensorFlow; the operation returned is an assignment.

        Returns:
          What a replica runs: it adds its gradients and waits for a token. Its value is the new
          local step.

        Raises:
          ValueError: no pairs, no global step, or a gradient of another type.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable; grads_and_vars is empty")
        if global_step is None:
            raise ValueError("Global step is required to check staleness of gradients")
        self._global_step = global_step
        self._make_local_step(global_step)
        self.ready_for_local_init_op = initialized.report_uninitialized_variables(
            listing.global_variables()
        )
        with scopes.name_scope(None, self._name):
            added, taken, accumulators = self._collect(pairs)
            with scopes.device(global_step.device), scopes.name_scope(""):
                update = self._opt.apply_gradients(
                    zip(taken, (var for _, var in pairs), strict=True), global_step
                )
            train_op = self._synchronize(added, update)
            resets = []
            for accumulator, device in accumulators:
                with scopes.device(device):
                    resets.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = control.group(self.local_step_init_op, *resets)
        self._gradients_applied = True
        return train_op

    def _make_local_step(self, global_step: Any) -> None:
        # The anchor keeps the variable with this replica, and off the parameter servers.
        anchor = control.no_op()
        with scopes.colocate_with(anchor):
            self._local_step = creation.create(
                initial_value=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype, name="sync_rep_local_step",
            )  # fmt: skip
        self.local_step_init_op = state.assign(self._local_step, global_step)

    def _collect(self, pairs: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any], list[Any]]:
        """Accumulators: what adds to each, the mean taken of each, each with its device."""
        added: list[Any] = []
        taken: list[Any] = []
        accumulators: list[Any] = []
        for grad, var in pairs:
            if grad is None:
                taken.append(None)
                continue
            with scopes.device(var.device):
                add, mean, accumulator = self._accumulated(grad, var)
            added.append(add)
            taken.append(mean)
            accumulators.append((accumulator, var.device))
        return added, taken, accumulators

    def _accumulated(self, grad: Any, var: Any) -> tuple[Any, Any, Any]:
        shared = f"{var.name}/grad_accum"
        if isinstance(grad, Tensor):
            dense = ConditionalAccumulator(grad.dtype, var.get_shape(), shared)
            add = dense.apply_grad(grad, local_step=self._local_step)
            return add, dense.take_grad(self._replicas_to_aggregate), dense
        if not isinstance(grad, IndexedSlices):
            raise ValueError(
                f"the gradient of {var.name!r} must be a Tensor, an IndexedSlices or None; found"
                f" {grad!r}"
            )
        # As in TensorFlow, of unknown inner shape: () stands for it in this op.
        sparse = SparseConditionalAccumulator(grad.dtype, (), shared)
        add = sparse.apply_indexed_slices_grad(grad, local_step=self._local_step)
        return add, sparse.take_indexed_slices_grad(self._replicas_to_aggregate), sparse

    def _synchronize(self, added: Sequence[Any], update: Any) -> Any:
        """The token queue: replicas wait at it, the chief's runner fills it after each update."""
        step = self._global_step
        with scopes.device(step.device), scopes.name_scope(""):
            tokens = FIFOQueue(
                -1, step.dtype.base_dtype, shapes=(), name="sync_token_q",
                shared_name="sync_token_q",
            )  # fmt: skip
            self._sync_token_queue = tokens
            # A runner closes its queue at the end; closing the tokens would end other replicas.
            dummy = FIFOQueue(
                1, dtypes.int32, shapes=(), name="dummy_queue", shared_name="dummy_queue"
            )
        with scopes.device(step.device), scopes.name_scope(""):
            with scopes.control_dependencies(added):
                token = tokens.dequeue()
            train_op = state.assign(self._local_step, token)
            with scopes.control_dependencies([update]):
                sync = tokens.enqueue_many((fill.fill([self._tokens_per_step], step),))
            if self._variable_averages is not None:
                with scopes.control_dependencies([sync]), scopes.name_scope(""):
                    sync = self._variable_averages.apply(self._variables_to_average)
            self._chief_queue_runner = QueueRunner(dummy, [sync])
        return train_op

    def _made(self, method: str) -> None:
        if not self._gradients_applied:
            raise ValueError(f"{method}() should be called after apply_gradients()")

    def get_chief_queue_runner(self) -> QueueRunner:
        """The ``QueueRunner`` that the chief runs: it averages, applies and hands out tokens.

        Raises:
          ValueError: before ``apply_gradients``.
        """
        self._made("get_chief_queue_runner")
        assert self._chief_queue_runner is not None
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """An operation that the chief runs first: puts tokens into the queue.

        Without them, replicas fewer than ``replicas_to_aggregate`` would wait for ever in the first
        step.

        Args:
          num_tokens: how many; -1 for ``replicas_to_aggregate``.

        Raises:
          ValueError: before ``apply_gradients``, or fewer than the first step needs.
        """
        self._made("get_init_tokens_op")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} given, {needed} needed"
            )
        if num_tokens <= 0:
            return control.no_op(name="no_init_tokens")
        with scopes.device(self._global_step.device), scopes.name_scope(""):
            tokens = fill.fill([num_tokens], self._global_step)
            return self._sync_token_queue.enqueue_many((tokens,))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> Any:
        """A hook for ``MonitoredTrainingSession`` that initializes and starts all this.

        Args:
          is_chief: whether this is the chief, which also averages and applies.
          num_tokens: as in ``get_init_tokens_op``.
        """
        return SyncReplicasHook(self, is_chief, num_tokens)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """As the wrapped optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """As the wrapped optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        """The wrapped optimizer's variables; the local step is not among them."""
        return self._opt.variables()
