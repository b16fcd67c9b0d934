"""What kinds of strategies differ in: ``StrategyExtended``.

The base runs one replica on each of its worker devices, one after the other as graphs are built.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables import creation
from penstock.ops.control import control
from penstock.training.distribute import context, modes
from penstock.training.distribute.context import ReduceOp
from penstock.training.distribute.cross_device import CrossDeviceOps
from penstock.training.distribute.input_context import InputContext
from penstock.training.distribute.replicas import run_replicas
from penstock.training.distribute.values import (
    DistributedValues,
    DistributedVariable,
    Mirrored,
    select,
    update_regroup,
)


class StrategyExtended:
    """The part of a strategy that libraries use, and kinds of strategies override.

    Args:
      container_strategy: the strategy that this is the part of.
    """

    # The first replica's number among all tasks'.
    first_replica = 0
    # Whether variables are resource variables whatever is asked for.
    _use_resource: bool | None = True
    experimental_between_graph = False
    experimental_should_init = True
    should_checkpoint = True
    should_save_summary = True
    experimental_require_static_shapes = False

    def __init__(self, container_strategy: Any) -> None:
        self._container = weakref.ref(container_strategy)

    def _container_strategy(self) -> Any:
        return self._container()

    # ---- devices -----------------------------------------------------------------------------

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of this task's replicas."""
        raise NotImplementedError

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that variables are on."""
        return self.worker_devices

    def non_slot_devices(self, var_list: Any) -> tuple[str, ...]:
        """The devices of an optimizer's variables that belong to none in particular."""
        return self.parameter_devices

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self.worker_devices)

    def input_context(self) -> Any:
        return InputContext(1, 0, self._num_replicas_in_sync)

    # ---- variables ---------------------------------------------------------------------------

    @contextmanager
    def _scope(self, strategy: Any) -> Iterator[Any]:
        mode = modes.innermost()
        current = None if mode is None else mode.strategy
        if current is strategy:
            yield strategy
            return
        if current is not None:
            raise RuntimeError(
                f"this is in the scope of another strategy, {type(current).__name__}; scopes of"
                " different strategies do not nest"
            )

        def creator(next_creator: Any, **kwargs: Any) -> Any:
            if kwargs.get("variable_def") is not None:
                return next_creator(**kwargs)
            if self._use_resource is not None:
                kwargs["use_resource"] = self._use_resource
            return self._create_variable(next_creator, **kwargs)

        with creation.variable_creator_scope(creator), modes.entered(strategy):
            yield strategy

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        return next_creator(**kwargs)

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether ``v`` was made in this strategy's scope."""
        return getattr(v, "_strategy", None) is self._container_strategy()

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Where variables that belong to a variable are made: on the same devices, all of them."""
        return nullcontext()

    def read_var(self, v: Any) -> Any:
        """The value of a variable, outside replicas."""
        return control.identity(v)

    # ---- replicas ----------------------------------------------------------------------------

    def call_for_each_replica(self, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls ``fn`` once a replica of this task; see ``Strategy.experimental_run_v2``."""
        if context.get_cross_replica_context() is not self._container_strategy():
            raise RuntimeError("replicas can be run in the strategy's scope, outside any replica")
        return run_replicas(
            self._container_strategy(), self.worker_devices, fn, tuple(args), dict(kwargs or {})
        )

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, DistributedValues | DistributedVariable):
            return tuple(value.values)
        if isinstance(value, list | tuple) and any(isinstance(v, DistributedValues) for v in value):
            count = len(self.worker_devices)
            return tuple(select(i, value) for i in range(count))
        return (value,)

    def value_container(self, val: Any) -> Any:
        """The mirrored variable that ``val`` is a component of, or ``val``."""
        container = getattr(val, "_distributed_container", None)
        found = container() if container is not None else None
        return val if found is None else found

    # ---- reductions --------------------------------------------------------------------------

    def _cross_device_ops_for(self) -> CrossDeviceOps:
        raise NotImplementedError

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """The sum or mean of replicas' values, on the devices of ``destinations``."""
        return self.batch_reduce_to(reduce_op, [(value, destinations)])[0]

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """As ``reduce_to``, of many values at once."""
        pairs = list(value_destination_pairs)
        done: dict[int, Any] = {}
        asked: list[tuple[int, Any]] = []
        for i, (value, destinations) in enumerate(pairs):
            if self._differs(value) and not (
                isinstance(value, Mirrored) and reduce_op is ReduceOp.MEAN
            ):
                asked.append((i, (value, destinations)))
            else:
                done[i] = self._of_equal(reduce_op, value)
        if asked:
            reduced = self._cross_device_ops_for().batch_reduce(
                reduce_op, [pair for _, pair in asked]
            )
            done.update(zip((i for i, _ in asked), reduced, strict=True))
        return [done[i] for i in range(len(pairs))]

    def _differs(self, value: Any) -> bool:
        """Whether replicas have values of their own; that of a task's only one is not wrapped."""
        if len(self.worker_devices) == 1 and self._num_replicas_in_sync > 1:
            return isinstance(value, DistributedValues | Tensor | IndexedSlices)
        return isinstance(value, DistributedValues)

    def _of_equal(self, reduce_op: Any, value: Any) -> Any:
        """The reduction of a value that is the same everywhere."""
        if reduce_op is ReduceOp.SUM and self._num_replicas_in_sync > 1:
            if isinstance(value, int | float) and value == 0:
                return 0
            raise ValueError(
                f"{value!r} is not one value a replica, and equal values cannot be summed without"
                " counting them; reduce what experimental_run_v2 returned, or take the MEAN"
            )
        return value

    def _reduce(self, reduce_op: Any, value: Any) -> Any:
        reduced = self.reduce_to(reduce_op, value, self.worker_devices[0])
        return self._local_results(reduced)[0]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """``tensor`` on all devices of ``destinations``."""
        return self._cross_device_ops_for().broadcast(tensor, destinations)

    # ---- updates -----------------------------------------------------------------------------

    def update(
        self, var: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        """Calls ``fn(component, ...)`` for each component of a variable, on its device.

        Args:
          var: a variable.
          fn: makes the update's nodes.
          args, kwargs: for ``fn``; mirrored values among them are taken apart.
          group: whether one thing is returned that runs all; else a list of the results.
        """
        components = var.values if isinstance(var, DistributedVariable) else (var,)
        return self._on_each([c.device for c in components], fn, args, kwargs, group, components)

    def update_non_slot(
        self, colocate_with: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        """Calls ``fn(...)`` on each device of ``colocate_with``; see ``update``."""
        return self._on_each(tuple(colocate_with), fn, args, kwargs, group, None)

    def _on_each(
        self, devices: Sequence[str], fn: Any, args: Any, kwargs: Any, group: bool,
        components: Sequence[Any] | None,
    ) -> Any:  # fmt: skip
        updates = []
        for i, device in enumerate(devices):
            own = () if components is None else (components[i],)
            with (
                scopes.device(device or None), modes.updating(i),
                scopes.name_scope(f"update_{i}"),
            ):  # fmt: skip
                updates.append(fn(*own, *select(i, tuple(args)), **select(i, dict(kwargs or {}))))
        if len(updates) == 1 and group:
            return updates[0]
        return update_regroup(updates, devices, group)

    # ---- sessions ----------------------------------------------------------------------------

    def _update_config_proto(self, config: Any) -> None:
        """Changes ``config`` to what the strategy needs."""
