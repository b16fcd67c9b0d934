"""``tf.config.experimental``: explicit re-exports, no logic."""

from penstock.engine.session.config_settings import (
    VirtualDeviceConfiguration as VirtualDeviceConfiguration,
    get_device_policy as get_device_policy,
    get_synchronous_execution as get_synchronous_execution,
    get_virtual_device_configuration as get_virtual_device_configuration,
    get_visible_devices as get_visible_devices,
    set_device_policy as set_device_policy,
    set_synchronous_execution as set_synchronous_execution,
    set_virtual_device_configuration as set_virtual_device_configuration,
    set_visible_devices as set_visible_devices,
)
from penstock.engine.session.local_devices import (
    get_memory_growth as get_memory_growth,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    set_memory_growth as set_memory_growth,
)

__all__ = [
    "VirtualDeviceConfiguration", "get_device_policy", "get_memory_growth",
    "get_synchronous_execution", "get_virtual_device_configuration", "get_visible_devices",
    "list_logical_devices", "list_physical_devices", "set_device_policy", "set_memory_growth",
    "set_synchronous_execution", "set_virtual_device_configuration", "set_visible_devices",
]  # fmt: skip
