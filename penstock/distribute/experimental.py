"""``tf.distribute.experimental``."""

from penstock.distribute.multi_worker import CollectiveCommunication, MultiWorkerMirroredStrategy
from penstock.distribute.single_device import ParameterServerStrategy

__all__ = ["CollectiveCommunication", "MultiWorkerMirroredStrategy", "ParameterServerStrategy"]
