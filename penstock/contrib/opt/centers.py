"""Workers that train variables of their own, and meet in center variables on parameter servers.

A worker's getter makes a trainable variable on the worker and its center on a parameter server.
``ElasticAverageOptimizer`` (Zhang et al., 2015) draws workers and center towards each other,
``ModelAverageOptimizer`` replaces all by their mean, and ``AGNOptimizer`` (accumulated gradient
normalization) hands the center the mean of a worker's last gradients; each once in some steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import control_dependencies, device
from penstock.library.control_flow.cond import cond
from penstock.library.ragged_tensors.dispatched import equal, zeros_like
from penstock.library.variables.listing import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    trainable_variables,
)
from penstock.library.variables.variable import Variable
from penstock.ops.array.fill import fill
from penstock.ops.control.control import group, no_op
from penstock.ops.math.addn import add_n
from penstock.ops.math.remainder import mod
from penstock.ops.nn.l2_loss import l2_loss
from penstock.ops.state.state import assign
from penstock.ops.state.state_update import assign_add, assign_sub
from penstock.storage.checkpoint.saveable import _named
from penstock.storage.checkpoint.saver import Saver
from penstock.training.data.accumulators import ConditionalAccumulator
from penstock.training.data.queues import FIFOQueue
from penstock.training.monitored.hook import SessionRunHook
from penstock.training.train.optimizer import Optimizer

_CENTER, _LOCAL_CENTER, _GRADIENT = (
    "global_center_variable", "local_center_variable", "grad_variable",
)  # fmt: skip


# ---- getters -------------------------------------------------------------------------------------


# Optimizers of other kinds than gradient descent may have none of that name, which is an error.
_learning_rate_of = attrgetter("_learning_rate")


class _Getter:
    """A custom getter of trainable variables that lie on the worker.

    Args:
      worker_device: the worker.
    """

    def __init__(self, worker_device: Any) -> None:
        self._worker_device = worker_device
        # By the worker's variable: its center, and what else a kind of optimizer needs.
        self.centers: dict[Any, Any] = {}
        self.beside: dict[Any, Any] = {}

    def __call__(
        self, getter: Callable[..., Any], name: str, trainable: bool, collections: Any,
        *args: Any, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """The variable; arguments as of a custom getter."""
        if not trainable:
            kwargs.update(trainable=trainable, collections=collections)
            if GraphKeys.LOCAL_VARIABLES in (collections or ()):
                with device(self._worker_device):
                    return getter(name, *args, **kwargs)
            return getter(name, *args, **kwargs)
        with device(self._worker_device):
            local = getter(
                name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs
            )
        if kwargs.get("reuse") is not True:
            self._make_center(getter, name, local, args, kwargs)
        return local

    def _make_center(
        self, getter: Callable[..., Any], name: str, local: Any, args: Any, kwargs: Any
    ) -> None:
        self.centers[local] = getter(
            f"{_CENTER}/{name}", *args, trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES], **kwargs,
        )  # fmt: skip
        what = self._beside_name()
        if what:
            with device(self._worker_device):
                self.beside[local] = getter(
                    f"{what}/{name}", *args, trainable=False,
                    collections=[GraphKeys.LOCAL_VARIABLES], **kwargs,
                )  # fmt: skip

    def _beside_name(self) -> str:
        return ""


class ElasticAverageCustomGetter(_Getter):
    """Custom getter for ``ElasticAverageOptimizer``: each trainable variable has a center.

    Args:
      worker_device: device of the worker, such as "/job:worker/task:0".
    """

    def _beside_name(self) -> str:
        return _LOCAL_CENTER


class AGNCustomGetter(_Getter):
    """Custom getter for ``AGNOptimizer``: each trainable variable has a center and a sum.

    Args:
      worker_device: device of the worker, such as "/job:worker/task:0".
    """

    def _beside_name(self) -> str:
        return _GRADIENT


class ModelAverageCustomGetter(_Getter):
    """Custom getter for ``ModelAverageOptimizer``: each trainable variable has a center.

    Args:
      worker_device: device of the worker, such as "/job:worker/task:0".
    """

    def _make_center(
        self, getter: Callable[..., Any], name: str, local: Any, args: Any, kwargs: Any
    ) -> None:
        self.centers[local] = Variable(
            name=f"{_CENTER}/{name}", initial_value=local.initialized_value(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
        )  # fmt: skip


# ---- what the optimizers share -------------------------------------------------------------------


class _Meeting(Optimizer):
    """An optimizer around another that meets a center every ``period`` steps."""

    def __init__(
        self, opt: Any, num_worker: int, getter: _Getter, period: int, use_locking: bool,
        name: str,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._opt, self._num_worker, self._period = opt, num_worker, period
        self._centers, self._beside = getter.centers, getter.beside
        self._local_step = Variable(
            initial_value=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
            name="local_step",
        )  # fmt: skip
        self._opt._prepare()

    def _applied_here(self, grads_and_vars: Any) -> Any:
        """Applies gradients to the worker's variables; slots are the worker's, too."""
        before = {v.op.name for v in global_variables()}
        update = self._opt.apply_gradients(grads_and_vars)
        everywhere = collecting.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        for variable in [v for v in everywhere if v.op.name not in before]:
            everywhere.remove(variable)
            collecting.add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)
        return update

    def _counted(self) -> Any:
        return assign_add(self._local_step, 1, name="local_step_update").op

    def _due(self) -> Any:
        return equal(mod(self._local_step, self._period), 0)


def _with_gradients(grads_and_vars: Sequence[tuple[Any, Any]]) -> list[Any]:
    return [var for grad, var in grads_and_vars if grad is not None]


class _InitHook(SessionRunHook):
    """Runs the optimizer's initial assignments in every new session."""

    def __init__(self, make: Callable[[], Any], is_chief: bool) -> None:
        self._make, self._is_chief = make, is_chief
        self._init_op: Any = None

    def begin(self) -> None:
        """Makes the assignments; before them the graph has initializers, as TensorFlow's."""
        local_variables_initializer()
        if self._is_chief:
            global_variables_initializer()
        self._init_op = self._make()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs them."""
        session.run(self._init_op)


# ---- elastic averaging ---------------------------------------------------------------------------


class ElasticAverageOptimizer(_Meeting):
    """Workers explore on their own, on an elastic link to a center (Zhang et al., 2015).

    Args:
      opt: the optimizer of each worker.
      num_worker: number of workers.
      ea_custom_getter: the ``ElasticAverageCustomGetter`` that the variables were made with.
      communication_period: number of steps from meeting to meeting.
      moving_rate: share of the distance that worker and center move; default 0.9 over the period
        over the number of workers.
      rho: weight of the distance in the loss; default ``moving_rate`` over the learning rate.
      use_locking: whether updates take the variable's lock.
      synchronous: whether workers wait for each other before the first step.
      name: name of the optimizer.
    """

    BETA = 0.9

    def __init__(
        self, opt: Any, num_worker: int, ea_custom_getter: Any, communication_period: int = 10,
        moving_rate: float | None = None, rho: float | None = None, use_locking: bool = True,
        synchronous: bool = False, name: str = "ElasticAverageOptimizer",
    ) -> None:  # fmt: skip
        if moving_rate is None:
            moving_rate = self.BETA / communication_period / num_worker
        self._moving_rate = moving_rate
        self._rho = moving_rate / _learning_rate_of(opt) if rho is None else rho
        self._synchronous = synchronous
        super().__init__(opt, num_worker, ea_custom_getter, communication_period, use_locking, name)

    def compute_gradients(
        self, loss: Any, var_list: Any = None, gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Any:  # fmt: skip
        """Gradients of the loss and of half the squared distance to the center, times rho.

        Args:
          loss .. grad_loss: as of ``tf.train.Optimizer``.
        """
        variables = var_list or trainable_variables()
        distances = [make("Sub", var, self._beside[var]) for var in variables]
        away = self._rho * add_n([l2_loss(distance) for distance in distances])
        return self._opt.compute_gradients(
            loss + away, variables, gate_gradients, aggregation_method,
            colocate_gradients_with_ops, grad_loss,
        )  # fmt: skip

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Updates the worker's variables, and meets the center when it is time to.

        Args:
          grads_and_vars: (gradient, variable) pairs.
          global_step: counts meetings.
          name: not used.
        """
        pairs = list(grads_and_vars)
        with control_dependencies([self._applied_here(pairs)]):
            counted = self._counted()
        variables = _with_gradients(pairs)
        with control_dependencies([counted]):
            return cond(self._due(), lambda: self._meet(variables, global_step), no_op)

    def _meet(self, variables: list[Any], global_step: Any) -> Any:
        centers = [self._centers[var] for var in variables]
        here = [self._beside[var] for var in variables]
        fetched = [
            local.assign(center) for local, center in zip(here, centers, strict=True)
        ]  # fmt: skip
        updates = []
        with control_dependencies(fetched):
            distances = []
            for var, local in zip(variables, here, strict=True):
                with device(var.device):
                    distances.append(make("Sub", var, local))
            for update, moved in ((assign_sub, variables), (assign_add, centers)):
                for var, distance in zip(moved, distances, strict=True):
                    with device(var.device):
                        updates.append(update(var, make("Mul", self._moving_rate, distance)))
            if global_step is not None:
                with scopes.colocate_with(global_step):
                    updates.append(assign_add(global_step, 1))
        return group(*updates)

    def get_init_op(self, task_index: int) -> Any:
        """Sets the worker's variables to the center's, before the first step.

        Args:
          task_index: number of the worker.

        Raises:
          ValueError: there are no variables.
        """
        variables = trainable_variables()
        if not variables:
            raise ValueError(
                "The lists of local_variables, global_center_variables, local_center_variables"
                " should not be empty  "
            )
        sets = []
        for var in variables:
            sets += [assign(part, self._centers[var]) for part in (var, self._beside[var])]
        init = group(*sets)
        return _barrier(self._num_worker, task_index, init) if self._synchronous else init

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """A hook that sets the worker's variables to the center's in a new session.

        Args:
          is_chief: whether this worker is the chief.
          task_index: number of the worker.
        """
        return _InitHook(lambda: self.get_init_op(task_index), is_chief)

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Saver:
        """A saver of the centers under the names of the workers' variables.

        Args:
          var_list: variables, by name if it is a dictionary; default the trainable ones.
          name: name of the saver's nodes.
          **kwargs: arguments of ``tf.train.Saver``.
        """
        given = trainable_variables() if var_list is None else var_list
        named = given if isinstance(given, dict) else _named(given)
        centers = {v.op.name: center for v, center in self._centers.items()}
        swapped = {
            key: item if isinstance(item, list) else centers.get(item.op.name, item)
            for key, item in named.items()
        }
        return Saver(swapped, name=name, **kwargs)


def _barrier(count: int, index: int, after: Any) -> Any:
    """An op that ends when all workers have run theirs."""
    queues = [
        FIFOQueue(count, [dtypes.bool], shapes=[[]], shared_name=f"variable_init_sync_queue{i}")
        for i in range(count)
    ]
    token = constant(False)
    with control_dependencies([after]):
        waits = [
            no_op() if i == index else queue.enqueue(token) for i, queue in enumerate(queues)
        ]  # fmt: skip
    waits.append(queues[index].dequeue_many(count - 1))
    return group(*waits)


# ---- model averaging -----------------------------------------------------------------------------


class ModelAverageOptimizer(_Meeting):
    """Workers train on their own; all are set to their mean once in some steps.

    It is made on the worker's device: a ``replica_device_setter`` would put its count of the
    worker's steps on a parameter server, where all workers would count together and some would
    wait for a mean that others do not take.

    Args:
      opt: the optimizer of each worker.
      num_worker: number of workers.
      is_chief: whether this worker is the chief, which updates the center.
      ma_custom_getter: the ``ModelAverageCustomGetter`` that the variables were made with.
      interval_steps: number of steps from mean to mean.
      use_locking: whether updates take the variable's lock.
      name: name of the optimizer.
    """

    def __init__(
        self, opt: Any, num_worker: int, is_chief: bool, ma_custom_getter: Any,
        interval_steps: int = 100, use_locking: bool = True, name: str = "ModelAverageOptimizer",
    ) -> None:  # fmt: skip
        super().__init__(opt, num_worker, ma_custom_getter, interval_steps, use_locking, name)
        self._is_chief = is_chief
        self._accumulators: list[tuple[Any, str]] = []
        self._chief_init_op: Any = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Updates the worker's variables, and takes the mean of all when it is time to.

        Args:
          grads_and_vars: (gradient, variable) pairs.
          global_step: counts means.
          name: not used.

        Raises:
          ValueError: no pairs, or no global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        with control_dependencies([self._opt.apply_gradients(pairs)]):
            counted = self._counted()
        variables = _with_gradients(pairs)
        with control_dependencies([counted]):
            meeting = cond(self._due(), lambda: self._meet(variables, global_step), no_op)
        sets = []
        for accumulator, where in self._accumulators:
            with device(where):
                sets.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
        self._chief_init_op = group(*sets)
        return meeting

    def _meet(self, variables: list[Any], global_step: Any) -> Any:
        centers = [self._centers[var] for var in variables]
        with scopes.colocate_with(global_step):
            queue = FIFOQueue(-1, [dtypes.bool], shapes=[[]], shared_name="sync_queue")
        handed, means = [], []
        with scopes.name_scope(None, f"{self._name}/global"):
            for var, center in zip(variables, centers, strict=True):
                with device(center.device):
                    accumulator = ConditionalAccumulator(
                        var.dtype.base_dtype, shape=var.get_shape(),
                        shared_name=f"{center.name}/var_accum",
                    )  # fmt: skip
                    handed.append(accumulator.apply_grad(var, local_step=global_step))
                    means.append(accumulator.take_grad(self._num_worker))
                    self._accumulators.append((accumulator, center.device))
        if self._is_chief:
            waited = self._set_centers(centers, means, handed, global_step, queue)
        else:
            with control_dependencies(handed), device(global_step.device):
                waited = queue.dequeue()
        with control_dependencies([waited]):
            return self._fetched(variables)

    def _set_centers(
        self, centers: list[Any], means: list[Any], handed: list[Any], global_step: Any, queue: Any
    ) -> Any:
        updates = []
        with control_dependencies(handed):
            for mean, center in zip(means, centers, strict=True):
                with device(center.device):
                    updates.append(assign(center, mean))
            with device(global_step.device):
                updates.append(assign_add(global_step, 1))
        with control_dependencies(updates), device(global_step.device):
            return queue.enqueue_many(fill([self._num_worker - 1], constant(False)))

    def _fetched(self, variables: list[Any]) -> Any:
        if not variables:
            raise ValueError("The list of local_variables should not be empty")
        sets = []
        for var in variables:
            with device(var.device):
                sets.append(assign(var, self._centers[var].read_value()))
        return group(*sets)

    def get_init_op(self) -> Any:
        """Sets the worker's variables to the center's, before the first step."""
        return self._fetched(trainable_variables())

    def make_session_run_hook(self) -> SessionRunHook:
        """A hook that sets the worker's variables to the center's in a new session."""
        return _InitHook(self.get_init_op, self._is_chief)


# ---- accumulated gradients -----------------------------------------------------------------------


class AGNOptimizer(_Meeting):
    """Workers train on their own, and hand a center the mean of their last gradients.

    Args:
      optimizer: the optimizer of workers and center.
      num_worker: number of workers.
      custom_getter: the ``AGNCustomGetter`` that the variables were made with.
      communication_period: number of steps from meeting to meeting.
      use_locking: whether updates take the variable's lock.
      name: name of the optimizer.
    """

    def __init__(
        self, optimizer: Any, num_worker: int, custom_getter: Any, communication_period: int = 10,
        use_locking: bool = True, name: str = "AGNOptimizer",
    ) -> None:  # fmt: skip
        super().__init__(
            optimizer, num_worker, custom_getter, communication_period, use_locking, name
        )

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Updates the worker's variables, and the center when it is time to.

        Args:
          grads_and_vars: (gradient, variable) pairs.
          global_step: counts updates of the center.
          name: not used.
        """
        pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
        variables = [var for _, var in pairs]
        updates = [self._applied_here(pairs)]
        updates += [assign_add(self._beside[var], grad) for grad, var in pairs]
        with control_dependencies([self._counted()]):
            due = self._due()
        with control_dependencies(updates):
            return cond(due, lambda: self._meet(variables, global_step), no_op)

    def _meet(self, variables: list[Any], global_step: Any) -> Any:
        sums = [self._beside[var] for var in variables]
        means = [assign(one, one / self._period) for one in sums]
        centers = [self._centers[var] for var in variables]
        with control_dependencies(means):
            applied = self._opt.apply_gradients(list(zip(sums, centers, strict=True)))
        updates = []
        with control_dependencies([applied]):
            if global_step is not None:
                with scopes.colocate_with(global_step):
                    updates.append(assign_add(global_step, 1))
            updates += [
                assign(var, center.read_value())
                for var, center in zip(variables, centers, strict=True)
            ]
            updates += [assign(one, zeros_like(one)) for one in sums]
            return group(*updates)

    def get_init_op(self, task_index: int) -> Any:
        """Sets the worker's variables to the center's and its sums to zero.

        Args:
          task_index: number of the worker.
        """
        variables = trainable_variables()
        if not variables:
            raise ValueError(
                "The lists of local_variables, global_center_variables, grad_center_variables"
                " should not be empty  "
            )
        sets = [assign(var, self._centers[var]) for var in variables]
        sums = [self._beside[var] for var in variables]
        return group(*sets, *[assign(one, zeros_like(one)) for one in sums])

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """A hook that sets the worker's variables to the center's in a new session.

        Args:
          is_chief: whether this worker is the chief.
          task_index: number of the worker.
        """
        return _InitHook(lambda: self.get_init_op(task_index), is_chief)
