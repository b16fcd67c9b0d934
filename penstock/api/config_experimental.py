"""``tf.config.experimental``: explicit re-exports, no logic."""

from penstock.engine.session.local_devices import (
    get_memory_growth as get_memory_growth,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    set_memory_growth as set_memory_growth,
)

__all__ = [
    "get_memory_growth", "list_logical_devices", "list_physical_devices", "set_memory_growth",
]  # fmt: skip
