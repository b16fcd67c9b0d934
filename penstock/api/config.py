"""``tf.config``: explicit re-exports, no logic."""

from penstock.api import config_experimental as experimental
from penstock.engine.session.local_devices import list_device_names as experimental_list_devices

__all__ = ["experimental", "experimental_list_devices"]
