"""``tf.distribute.experimental``."""

from penstock.training.distribute.multi_worker import (
    CollectiveCommunication as CollectiveCommunication,
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from penstock.training.distribute.single_device import (
    ParameterServerStrategy as ParameterServerStrategy,
)
