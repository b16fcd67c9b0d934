"""Strategies whose variables have one copy: ``OneDeviceStrategy``, ``ParameterServerStrategy``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.graph import scopes
from penstock.training.distribute.cross_device import CrossDeviceOps, ReductionToOneDevice
from penstock.training.distribute.extended import StrategyExtended
from penstock.training.distribute.mirrored import canonical, default_devices
from penstock.training.distribute.strategy import Strategy


class OneDeviceStrategy(Strategy):
    """One replica, and its variables, on one device: to try a program without distribution.

    Args:
      device: the device, ``"/cpu:0"``.

    >>> import penstock as tf
    >>> strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    >>> with tf.Graph().as_default(), strategy.scope():
    ...     tf.get_variable("w", []).device
    '/replica:0/task:0/device:CPU:0'
    """

    def __init__(self, device: str) -> None:
        super().__init__(_OneDeviceExtended(self, canonical(device)))


class _OneDeviceExtended(StrategyExtended):
    _use_resource = None

    def __init__(self, container_strategy: Any, device: str) -> None:
        super().__init__(container_strategy)
        self._device = device

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        with scopes.device(self._device):
            return next_creator(**kwargs)

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """With that variable."""
        return scopes.colocate_with(colocate_with_variable)

    def _cross_device_ops_for(self) -> CrossDeviceOps:
        return ReductionToOneDevice()

    def _update_config_proto(self, config: Any) -> None:
        config.allow_soft_placement = True


class ParameterServerStrategy(Strategy):
    """Trains asynchronously: variables on parameter servers, one replica a worker.

    Every worker builds its own graph, and its updates go to the shared variables at once, as with
    ``tf.train.replica_device_setter``.

    Args:
      cluster_resolver: has ``cluster_spec()``, ``task_type`` and ``task_id``; default TF_CONFIG.

    Raises:
      ValueError: TF_CONFIG contradicts itself.
    """

    def __init__(self, cluster_resolver: Any = None) -> None:
        super().__init__(_ParameterServerExtended(self, cluster_resolver))


class _ParameterServerExtended(StrategyExtended):
    _use_resource = None
    experimental_between_graph = True

    def __init__(self, container_strategy: Any, cluster_resolver: Any) -> None:
        super().__init__(container_strategy)
        jobs, kind, index = _jobs(cluster_resolver)
        self._servers = len(jobs.get("ps", ()))
        self._kind, self._index = kind, index
        own = default_devices()[0]
        spec = f"/job:{kind}/task:{index}{own}" if self._servers else own
        self._device = canonical(spec)
        self._next_server = 0

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """This worker's device."""
        return (self._device,)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The parameter servers'."""
        if not self._servers:
            return (self._device,)
        return tuple(f"/job:ps/task:{i}/device:CPU:0" for i in range(self._servers))

    @property
    def experimental_should_init(self) -> bool:  # type: ignore[override]
        """Whether this is the chief."""
        return self._kind in ("chief", "master") or (self._kind == "worker" and self._index == 0)

    @property
    def should_checkpoint(self) -> bool:  # type: ignore[override]
        """Whether this is the chief."""
        return self.experimental_should_init

    @property
    def should_save_summary(self) -> bool:  # type: ignore[override]
        """Whether this is the chief."""
        return self.experimental_should_init

    @contextmanager
    def _scope(self, strategy: Any) -> Iterator[Any]:
        with super()._scope(strategy), scopes.device(self._device):
            yield strategy

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        graph = scopes.get_default_graph()
        if graph.scopes.colocation:  # a slot: with its variable
            return next_creator(**kwargs)
        # Round robin, in the order that all workers make them in.
        attached = graph.attached
        count = attached.get("distribute.variables", 0)
        attached["distribute.variables"] = count + 1
        places = self.parameter_devices
        with scopes.device(places[count % len(places)]):
            return next_creator(**kwargs)

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """With that variable."""
        return scopes.colocate_with(colocate_with_variable)

    def non_slot_devices(self, var_list: Any) -> tuple[str, ...]:
        """Where the first variable, by name, is."""
        return (min(var_list, key=lambda v: str(v.name)).device,)

    def _cross_device_ops_for(self) -> CrossDeviceOps:
        return ReductionToOneDevice(reduce_to_device=self._device)

    def _update_config_proto(self, config: Any) -> None:
        if self._servers:
            # A worker waits for servers, and not for other workers.
            config.device_filters[:] = ["/job:ps", f"/job:{self._kind}/task:{self._index}"]
            config.isolate_session_state = False
        else:
            config.allow_soft_placement = True


def _jobs(resolver: Any) -> tuple[dict[str, Any], str, int]:
    """Jobs with their addresses, and which task this is."""
    if resolver is not None:
        spec = resolver.cluster_spec()
        jobs = spec.as_dict() if hasattr(spec, "as_dict") else dict(spec)
        return jobs, resolver.task_type or "worker", int(resolver.task_id or 0)
    given = json.loads(os.environ.get("TF_CONFIG") or "{}")
    task = given.get("task") or {}
    return given.get("cluster") or {}, task.get("type", "worker"), int(task.get("index", 0))
