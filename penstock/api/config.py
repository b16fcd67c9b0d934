"""``tf.config``: explicit re-exports, no logic."""

from penstock.api import (
    config_experimental as experimental,
    config_optimizer as optimizer,
    config_threading as threading,
)
from penstock.engine.session.config_settings import (
    get_soft_device_placement as get_soft_device_placement,
    set_soft_device_placement as set_soft_device_placement,
)
from penstock.engine.session.local_devices import list_device_names as experimental_list_devices
from penstock.library.eager.function import (
    run_functions_eagerly as experimental_run_functions_eagerly,
)

__all__ = [
    "experimental", "experimental_list_devices", "experimental_run_functions_eagerly",
    "get_soft_device_placement", "optimizer",
    "set_soft_device_placement", "threading",
]  # fmt: skip
