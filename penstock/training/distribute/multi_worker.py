"""``MultiWorkerMirroredStrategy``: one program a task, kept in step by collective ops.

Every task builds the same graph and runs the same steps.  Variables begin with the first task's
initial values, which it broadcasts when the initializers run; gradients are summed in the task,
then over the tasks.  A saved model is the first task's to write (``extended.should_checkpoint``).
"""

from __future__ import annotations

import enum
import os
from collections.abc import Sequence
from typing import Any

from penstock.engine.resources import collective
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.training.distribute import cluster
from penstock.training.distribute.cross_device import (
    _DEFAULT_PACK,
    CollectiveAllReduce,
    CollectiveKeys,
    CrossDeviceOps,
)
from penstock.training.distribute.input_context import InputContext
from penstock.training.distribute.mirrored import MirroredExtended, default_devices
from penstock.training.distribute.strategy import Strategy

_GROUP = 1


class CollectiveCommunication(enum.Enum):
    """How tasks talk: AUTO (NCCL between GPUs, else Gloo), RING or NCCL."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class MultiWorkerMirroredStrategy(Strategy):
    """Trains synchronously on several tasks, without parameter servers.

    The cluster is what TF_CONFIG says; without it this is a ``MirroredStrategy``. The tasks meet at
    the first one's address (or at PENSTOCK_COLLECTIVE_STORE, the same on all).

    Args:
      communication: how tasks talk.

    Raises:
      ValueError: TF_CONFIG contradicts itself.
    """

    def __init__(
        self, communication: CollectiveCommunication = CollectiveCommunication.AUTO
    ) -> None:
        super().__init__(MultiWorkerExtended(self, default_devices(), communication))

    @classmethod
    def of_devices(
        cls, devices: Sequence[str], *, task: cluster.Task | None = None,
        bytes_per_pack: int = _DEFAULT_PACK,
    ) -> MultiWorkerMirroredStrategy:  # fmt: skip
        """As the constructor, saying more.

        Args:
          devices: the devices of this task's replicas.
          task: which task this is; default what TF_CONFIG says.
          bytes_per_pack: gradients are reduced in pieces of about this size; 0: each by itself.
        """
        made = cls.__new__(cls)
        auto = CollectiveCommunication.AUTO
        Strategy.__init__(made, MultiWorkerExtended(made, devices, auto, task, bytes_per_pack))
        return made


class MultiWorkerExtended(MirroredExtended):
    """Mirrored variables on the devices of each task, and reductions over tasks."""

    experimental_between_graph = True

    def __init__(
        self, container_strategy: Any, devices: Sequence[str],
        communication: CollectiveCommunication, task: cluster.Task | None = None,
        bytes_per_pack: int = _DEFAULT_PACK,
    ) -> None:  # fmt: skip
        super().__init__(container_strategy, devices)
        self._task = task if task is not None else cluster.read()
        self._keys = CollectiveKeys(_GROUP)
        self._communication, self._bytes_per_pack = communication, bytes_per_pack
        self._tasks, self._rank = 1, 0
        if self._task is not None:
            self._tasks, self._rank = len(self._task.addresses), self._task.rank
            # In another task's device names task 0 would be meant.
            self._devices = tuple(d.replace("/replica:0/task:0", "") for d in self._devices)
            collective.configure(self._member(self._task))
        self.first_replica = self._rank * len(self._devices)
        hint = communication.value.lower()
        self._cross_device_ops = CollectiveAllReduce(self._tasks, self._keys, bytes_per_pack, hint)

    @staticmethod
    def _member(task: cluster.Task) -> collective.Member:
        store = os.environ.get("PENSTOCK_COLLECTIVE_STORE", "")
        return collective.Member(task.addresses, task.rank, task.names, store)

    @property
    def experimental_should_init(self) -> bool:  # type: ignore[override]
        """Every task runs the initializers: the broadcast is in them."""
        return True

    @property
    def should_checkpoint(self) -> bool:  # type: ignore[override]
        """Whether this task is the one to save."""
        return self._rank == 0

    @property
    def should_save_summary(self) -> bool:  # type: ignore[override]
        """Whether this task is the one to write summaries."""
        return self._rank == 0

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self._devices) * self._tasks

    def input_context(self) -> InputContext:
        return InputContext(self._tasks, self._rank, self._num_replicas_in_sync)

    def _cross_device_ops_for(self) -> CrossDeviceOps:
        return self._cross_device_ops

    def _prepare_first(self, kwargs: dict[str, Any]) -> None:
        """Replaces the initial value by what the first task broadcasts."""
        if self._tasks == 1:
            return
        given, dtype, name = kwargs["initial_value"], kwargs.get("dtype"), kwargs.get("name")

        def broadcast() -> Any:
            value = convert_to_tensor(given() if callable(given) else given, dtype)
            if not value.shape.is_fully_defined():
                raise ValueError(
                    f"variable {name!r}: its initial value has shape {value.shape}; tasks can only"
                    " receive a value whose shape is known when the graph is built"
                )
            attrs: dict[str, Any] = {
                "group_size": self._tasks, "group_key": _GROUP,
                "instance_key": self._keys.instance(), "shape": value.shape,
            }  # fmt: skip
            if self._rank == 0:
                return make("CollectiveBcastSend", value, **attrs)
            return make("CollectiveBcastRecv", T=value.dtype.base_dtype, **attrs)

        kwargs["initial_value"] = broadcast
