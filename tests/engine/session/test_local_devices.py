"""``tf.config``: the devices of this machine."""

from __future__ import annotations

import pytest

import penstock as tf


def test_devices_are_listed() -> None:
    config = tf.config
    assert config.experimental_list_devices()[0].endswith("/device:CPU:0")
    (physical,) = config.experimental.list_physical_devices("CPU")
    assert physical == ("/physical_device:CPU:0", "CPU")
    (logical,) = config.experimental.list_logical_devices("CPU")
    assert logical.name == "/job:localhost/replica:0/task:0/device:CPU:0"
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU devices"):
        config.experimental.set_memory_growth(physical, True)
