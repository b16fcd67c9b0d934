"""``tf.distribute``: the same training program on several devices and tasks, kept in step."""

from penstock.distribute import experimental
from penstock.distribute.context import (
    ReduceOp,
    get_loss_reduction,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from penstock.distribute.cross_device import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReductionToOneDevice,
)
from penstock.distribute.extended import StrategyExtended
from penstock.distribute.mirrored import MirroredStrategy
from penstock.distribute.single_device import OneDeviceStrategy
from penstock.distribute.strategy import (
    InputContext,
    InputReplicationMode,
    ReplicaContext,
    Strategy,
)

__all__ = [
    "CrossDeviceOps", "HierarchicalCopyAllReduce", "InputContext", "InputReplicationMode",
    "MirroredStrategy", "NcclAllReduce", "OneDeviceStrategy", "ReduceOp", "ReductionToOneDevice",
    "ReplicaContext", "Strategy", "StrategyExtended", "experimental", "get_loss_reduction",
    "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context",
]  # fmt: skip
