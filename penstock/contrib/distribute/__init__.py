"""``tf.contrib.distribute``: the older names of ``tf.distribute``, with the arguments they had.

``steps`` has steps of training as objects.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from penstock.cluster.distributed.server import Server
from penstock.contrib.distribute.steps import (
    Monitor as Monitor,
    StandardInputStep as StandardInputStep,
    StandardSingleLossStep as StandardSingleLossStep,
    Step as Step,
)
from penstock.foundation.base import public_names
from penstock.training.distribute.cluster import read
from penstock.training.distribute.context import (
    get_cross_replica_context as get_cross_replica_context,
    get_loss_reduction as get_loss_reduction,
    in_cross_replica_context as in_cross_replica_context,
)
from penstock.training.distribute.cross_device import (
    AllReduceCrossDeviceOps as AllReduceCrossDeviceOps,
    CrossDeviceOps as CrossDeviceOps,
)
from penstock.training.distribute.default import (
    get_replica_context as get_replica_context,
    get_strategy as get_strategy,
    require_replica_context as require_replica_context,
)
from penstock.training.distribute.mirrored import MirroredExtended, default_devices
from penstock.training.distribute.modes import has_strategy as has_strategy, updating
from penstock.training.distribute.multi_worker import CollectiveCommunication, MultiWorkerExtended
from penstock.training.distribute.replica_context import ReplicaContext as ReplicaContext
from penstock.training.distribute.single_device import (
    OneDeviceStrategy as OneDeviceStrategy,
    ParameterServerStrategy as _ParameterServerStrategy,
)
from penstock.training.distribute.strategy import Strategy

DistributionStrategy = Strategy
get_distribution_strategy = get_strategy
has_distribution_strategy = has_strategy


def _gpus(count: int | None) -> Sequence[str]:
    return [f"/gpu:{i}" for i in range(count)] if count else ["/cpu:0"]


class MirroredStrategy(Strategy):
    """As ``tf.distribute.MirroredStrategy``.

    Args:
      devices: devices of the replicas; default those that the next arguments name, else all GPUs.
      num_gpus, num_gpus_per_worker: the number of GPUs to use; give one of them.
      cross_device_ops: how values are summed and spread.
      auto_shard_dataset: accepted; every replica gets its own rows anyway.
      cross_tower_ops: older name of ``cross_device_ops``.

    Raises:
      ValueError: both numbers, or a number and ``devices``.
    """

    def __init__(
        self, devices: Sequence[str] | None = None, num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None, cross_device_ops: Any = None,
        auto_shard_dataset: bool = False, cross_tower_ops: Any = None,
    ) -> None:  # fmt: skip
        given = [n for n in (num_gpus, num_gpus_per_worker) if n is not None]
        if len(given) + (devices is not None) > 1:
            raise ValueError("give one of devices, num_gpus and num_gpus_per_worker")
        if devices is None:
            devices = _gpus(given[0]) if given else default_devices()
        ops = cross_device_ops or cross_tower_ops
        super().__init__(MirroredExtended(self, devices, ops))


class CollectiveAllReduceStrategy(Strategy):
    """As ``tf.distribute.experimental.MultiWorkerMirroredStrategy``.

    Args:
      num_gpus_per_worker: GPUs of this task to use; 0 for its CPU.
      communication: how tasks talk.
    """

    def __init__(
        self, num_gpus_per_worker: int = 0,
        communication: CollectiveCommunication = CollectiveCommunication.AUTO,
    ) -> None:  # fmt: skip
        devices = _gpus(num_gpus_per_worker)
        super().__init__(MultiWorkerExtended(self, devices, communication, read()))


class ParameterServerStrategy(_ParameterServerStrategy):
    """As ``tf.distribute.experimental.ParameterServerStrategy``.

    Args:
      num_gpus_per_worker: 0 or 1: a worker has one replica.

    Raises:
      ValueError: more GPUs.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        if num_gpus_per_worker > 1:
            raise ValueError(
                f"a worker has one replica here, so at most one GPU; found {num_gpus_per_worker}"
            )
        super().__init__()


class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """Sums over the devices of several workers of one session; the sum is made on one of them.

    Args:
      worker_devices: the workers' devices, one for each.
      num_gpus_per_worker: how many GPUs each has.
      all_reduce_spec: the algorithm, or triples of an algorithm, its shards and the most bytes that
        take it; accepted, since a sum is the same by all of them.
      num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group: accepted likewise.

    Raises:
      ValueError: the spec is no algorithm and no triples, or its last bound is not -1.
    """

    def __init__(
        self, worker_devices: Sequence[str], num_gpus_per_worker: int,
        all_reduce_spec: Any = ("pscpu/pscpu", 2, -1), num_packs: int = 0,
        agg_small_grads_max_bytes: int = 0, agg_small_grads_max_group: int = 10,
    ) -> None:  # fmt: skip
        del num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group
        super().__init__()
        self.worker_devices, self.num_gpus_per_worker = list(worker_devices), num_gpus_per_worker
        specs = all_reduce_spec if isinstance(all_reduce_spec, list) else [all_reduce_spec]
        self.all_reduce_spec = [(s, 1, -1) if isinstance(s, str) else tuple(s) for s in specs]
        if any(len(spec) != 3 for spec in self.all_reduce_spec):
            raise ValueError(
                "all_reduce_spec is an algorithm or triples (algorithm, shards, limit); found"
                f" {all_reduce_spec!r}"
            )
        if self.all_reduce_spec[-1][2] != -1:
            raise ValueError(
                "the last triple of all_reduce_spec must have the limit -1, for all that is larger;"
                f" found {all_reduce_spec!r}"
            )


class DistributeConfig(NamedTuple):
    """How an estimator's work is distributed: what ``RunConfig(experimental_distribute=)`` takes.

    Args:
      train_distribute: the strategy of training.
      eval_distribute: the strategy of evaluation.
      remote_cluster: a cluster to work on, as a dict or ``ClusterSpec``.
    """

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


def run_standard_tensorflow_server(session_config: Any = None) -> Server:
    """Starts the server of the task that the environment's TF_CONFIG describes.

    Args:
      session_config: ``ConfigProto`` of the server.

    Returns:
      The server, started.

    Raises:
      ValueError: TF_CONFIG has no cluster or no task.
    """
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    for part in ("cluster", "task"):
        if part not in config:
            raise ValueError(f'"{part}" is not found in TF_CONFIG.')
    task = config["task"]
    return Server(
        config["cluster"], task["type"], int(task.get("index", 0)),
        protocol=config.get("rpc_layer", "grpc"), config=session_config,
    )  # fmt: skip


class UpdateContext:
    """Code that updates the components of variables on one device.

    Args:
      device: the device's number among those of the variables.
    """

    def __init__(self, device: int) -> None:
        self._device = device

    def __enter__(self) -> UpdateContext:
        self._held = self._hold()
        self._held.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._held.__exit__(*exc)

    @contextmanager
    def _hold(self) -> Iterator[None]:
        with updating(self._device):
            yield


__dir__ = public_names.listing(__name__)
