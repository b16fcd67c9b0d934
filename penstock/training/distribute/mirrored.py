"""``MirroredStrategy``: replicas on several devices of a task, each with copies of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import devices as device_names
from penstock.foundation.graph import scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.variable import VariableAggregation, VariableSynchronization
from penstock.ops.control import control
from penstock.training.distribute import modes
from penstock.training.distribute.cross_device import CrossDeviceOps, ReductionToOneDevice
from penstock.training.distribute.extended import StrategyExtended
from penstock.training.distribute.strategy import Strategy
from penstock.training.distribute.values import MirroredVariable, SyncOnReadVariable


def canonical(device: str) -> str:
    """The full name of a device of this process.

    >>> canonical("/cpu:1")
    '/replica:0/task:0/device:CPU:1'
    """
    spec = device_names.DeviceSpec.from_string(device)
    if spec.job is None and spec.task is None:
        spec = spec.replace(replica=0, task=0)
    if spec.device_type is None:
        spec = spec.replace(device_type="CPU", device_index=0)
    return spec.to_string()


def default_devices() -> list[str]:
    """The GPUs of this process, or its CPU where it has none."""
    import torch

    return [f"/gpu:{i}" for i in range(torch.cuda.device_count())] or ["/cpu:0"]


class MirroredStrategy(Strategy):
    """Trains synchronously on several devices of one task.

    Each device gets a replica: its part of the batch, its copy of each variable. Gradients are
    summed over the replicas, so losses are to be summed over the batch and divided by the size of
    the whole batch, and the copies stay equal.

    Args:
      devices: devices such as ``["/gpu:0", "/gpu:1"]``; default all GPUs, else the CPU.
      cross_device_ops: how values are summed and spread.

    Example:
      >>> import penstock as tf
      >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
      >>> with tf.Graph().as_default(), strategy.scope():
      ...     w = tf.get_variable("w", [], initializer=tf.ones_initializer())
      ...     def step(x):
      ...         return tf.train.GradientDescentOptimizer(0.25).minimize(w * x)
      ...     data = tf.data.Dataset.from_tensor_slices([1.0, 2.0]).batch(2)
      ...     batches = strategy.make_dataset_iterator(data)
      ...     train = strategy.experimental_run(lambda x: step(tf.reduce_sum(x)), batches)
      ...     config = strategy.update_config_proto(tf.ConfigProto())
      ...     with tf.Session(config=config) as sess:
      ...         _ = sess.run([batches.initialize(), tf.global_variables_initializer()])
      ...         sess.run(strategy.group(train))
      ...         [float(v) for v in sess.run(strategy.experimental_local_results(w))]
      [0.25, 0.25]
    """

    def __init__(
        self, devices: Sequence[str] | None = None, cross_device_ops: CrossDeviceOps | None = None
    ) -> None:
        super().__init__(MirroredExtended(self, devices or default_devices(), cross_device_ops))


class MirroredExtended(StrategyExtended):
    """Mirrored variables, and reductions between the devices of a task."""

    def __init__(
        self, container_strategy: Any, devices: Sequence[str],
        cross_device_ops: CrossDeviceOps | None = None,
    ) -> None:  # fmt: skip
        super().__init__(container_strategy)
        self._devices = tuple(map(canonical, devices))
        if len(set(self._devices)) != len(self._devices):
            raise ValueError(f"each device can have one replica; found {list(self._devices)}")
        self._cross_device_ops = cross_device_ops or ReductionToOneDevice()

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """One device a replica."""
        return self._devices

    def _cross_device_ops_for(self) -> CrossDeviceOps:
        return self._cross_device_ops

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        def create(**given: Any) -> Any:
            return self._mirrored(next_creator, given)

        replica = modes.replica()
        if replica is not None and replica.worker_thread is not None:
            return replica.worker_thread.variable(create, kwargs)
        return create(**kwargs)

    def _mirrored(self, next_creator: Any, kwargs: dict[str, Any]) -> Any:
        """A component on each device; the collections get the whole in their place."""
        synchronization = kwargs.get("synchronization", VariableSynchronization.AUTO)
        aggregation = kwargs.get("aggregation", VariableAggregation.NONE)
        if synchronization is VariableSynchronization.NONE:
            raise ValueError("a variable of this strategy needs another synchronization than NONE")
        on_read = synchronization is VariableSynchronization.ON_READ
        if on_read and kwargs.get("trainable"):
            raise ValueError("a variable that is synchronized on read cannot be trainable")
        collections = kwargs.pop("collections", None)
        collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        trainable = kwargs.get("trainable")
        if trainable is None:
            trainable = kwargs["trainable"] = not on_read
        kwargs["aggregation"], kwargs["synchronization"] = aggregation, synchronization
        components = self._components(next_creator, kwargs)
        kind = SyncOnReadVariable if on_read else MirroredVariable
        made = kind(self._container_strategy(), self._devices, components)
        if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections.append(GraphKeys.TRAINABLE_VARIABLES)
        graph = scopes.get_default_graph()
        for component in components:
            for key in (*collections, GraphKeys.TRAINABLE_VARIABLES):
                held = graph.get_collection_ref(key)
                held[:] = [v for v in held if v is not component]
        graph.add_to_collections(collections, made)
        return made

    def _components(self, next_creator: Any, kwargs: dict[str, Any]) -> list[Any]:
        components: list[Any] = []
        for i, device in enumerate(self._devices):
            given = dict(kwargs, collections=[])
            with scopes.device(device):
                if i:
                    first = components[0]
                    given["name"] = f"{first.op.name}/replica_{i}/"
                    given["initial_value"] = _copy_of(first, device)
                    given["dtype"] = first.dtype
                else:
                    self._prepare_first(given)
                components.append(next_creator(**given))
        return components

    def _prepare_first(self, kwargs: dict[str, Any]) -> None:
        """May change how the first component is made."""

    def _update_config_proto(self, config: Any) -> None:
        cpus = [d for d in self._devices if "device:CPU" in d]
        config.device_count["CPU"] = max(len(cpus), config.device_count["CPU"], 1)
        # Replica devices are named without a job, and nodes that have no kernel there may move.
        config.allow_soft_placement = True


def _copy_of(first: Any, device: str) -> Any:
    """The initial value of a further component: the first one's."""

    def initial_value() -> Any:
        with scopes.device(device):
            return control.identity(first.initial_value)

    return initial_value
