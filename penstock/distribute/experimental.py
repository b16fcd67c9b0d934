"""``tf.distribute.experimental``."""

from penstock.distribute.multi_worker import (
    CollectiveCommunication as CollectiveCommunication,
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from penstock.distribute.single_device import ParameterServerStrategy as ParameterServerStrategy
