"""``tf.distribute``: the same training program on several devices and tasks, kept in step."""

from penstock.training.distribute import (
    cluster_resolver as cluster_resolver,
    experimental as experimental,
)
from penstock.training.distribute.context import (
    ReduceOp as ReduceOp,
    get_loss_reduction as get_loss_reduction,
    in_cross_replica_context as in_cross_replica_context,
)
from penstock.training.distribute.cross_device import (
    CrossDeviceOps as CrossDeviceOps,
    HierarchicalCopyAllReduce as HierarchicalCopyAllReduce,
    NcclAllReduce as NcclAllReduce,
    ReductionToOneDevice as ReductionToOneDevice,
)
from penstock.training.distribute.default import (
    get_replica_context as get_replica_context,
    get_strategy as get_strategy,
)
from penstock.training.distribute.extended import StrategyExtended as StrategyExtended
from penstock.training.distribute.input_context import InputContext as InputContext
from penstock.training.distribute.mirrored import MirroredStrategy as MirroredStrategy
from penstock.training.distribute.modes import has_strategy as has_strategy
from penstock.training.distribute.replica_context import ReplicaContext as ReplicaContext
from penstock.training.distribute.single_device import OneDeviceStrategy as OneDeviceStrategy
from penstock.training.distribute.strategy import (
    InputReplicationMode as InputReplicationMode,
    Strategy as Strategy,
)
