"""``tf.distribute``: the same training program on several devices and tasks, kept in step."""

from penstock.distribute import experimental as experimental
from penstock.distribute.context import (
    ReduceOp as ReduceOp,
    get_loss_reduction as get_loss_reduction,
    get_replica_context as get_replica_context,
    get_strategy as get_strategy,
    has_strategy as has_strategy,
    in_cross_replica_context as in_cross_replica_context,
)
from penstock.distribute.cross_device import (
    CrossDeviceOps as CrossDeviceOps,
    HierarchicalCopyAllReduce as HierarchicalCopyAllReduce,
    NcclAllReduce as NcclAllReduce,
    ReductionToOneDevice as ReductionToOneDevice,
)
from penstock.distribute.extended import StrategyExtended as StrategyExtended
from penstock.distribute.input_context import InputContext as InputContext
from penstock.distribute.mirrored import MirroredStrategy as MirroredStrategy
from penstock.distribute.single_device import OneDeviceStrategy as OneDeviceStrategy
from penstock.distribute.strategy import (
    InputReplicationMode as InputReplicationMode,
    ReplicaContext as ReplicaContext,
    Strategy as Strategy,
)
