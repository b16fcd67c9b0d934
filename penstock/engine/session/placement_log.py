"""Whether a program asked that devices be logged: ``tf.debugging.set_log_device_placement``.

The answer holds for what has no config of its own: operations that run as they are called, and
sessions that are made without a ``ConfigProto``.

State: what was asked, the config that eager execution was enabled with, and whether an operation
has run eagerly, after which it is too late to ask for anything else.

Source: the behaviour of TensorFlow 1.15.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from penstock.engine.session.options import defaults

_HOST = "/job:localhost/replica:0/task:0/device:CPU:0"


class Asked:
    """What holds for the process."""

    def __init__(self) -> None:
        self.enabled: Any = None
        self.config: Any = None
        self.begun = False
        # What ``config_settings`` was told of such sessions beside.
        self.settings: Callable[[Any], None] | None = None


asked = Asked()


def set_log_device_placement(enabled: bool) -> None:
    """Sets whether it is logged on which device operations run.

    An operation that runs eagerly is logged on stderr when it is called for the first time with its
    attrs and dtypes; sessions made without a config log where each node is placed.

    Args:
      enabled: whether to log.

    Raises:
      RuntimeError: another answer holds, and an operation has run eagerly already.

    Example:
      >>> import penstock as tf
      >>> tf.debugging.get_log_device_placement()
      False

    Source: ``tf.debugging.set_log_device_placement`` of TensorFlow 1.15.
    """
    if asked.enabled == enabled:
        return
    if asked.begun:
        raise RuntimeError(
            "Device placement logging must be set at program startup: an operation has run eagerly"
            f" already, with {get_log_device_placement()}; {enabled!r} was asked for"
        )
    asked.enabled = enabled
    defaults.make = default_config


def get_log_device_placement() -> bool:
    """Whether it is logged on which device operations run.

    Returns:
      What ``set_log_device_placement`` was told; else what the config says that eager execution was
      enabled with; else False.

    Raises:
      TypeError: what was set is no bool.
    """
    if asked.enabled is not None:
        return bool(ConfigProto(log_device_placement=asked.enabled).log_device_placement)
    return asked.config is not None and bool(asked.config.log_device_placement)


def default_config() -> Any:
    """The config of a session that is given none: None, or one of what was asked for."""
    if asked.settings is None:
        return ConfigProto(log_device_placement=True) if get_log_device_placement() else None
    config = ConfigProto(log_device_placement=get_log_device_placement())
    asked.settings(config)
    return config


def enabled_with(config: Any) -> None:
    """Told the config (or None) with which eager execution is enabled."""
    asked.config, asked.begun = config, False
    defaults.make = default_config


def begin() -> Any:
    """Told when the first operation runs eagerly: from then on it is settled what is logged.

    Returns:
      The config of eager execution, which says what was asked for.
    """
    asked.begun = True
    complete = ConfigProto()
    if asked.config is not None:
        complete.MergeFrom(asked.config)
    complete.log_device_placement = get_log_device_placement()
    if asked.settings is not None:
        asked.settings(complete)
    return complete


def log_operation(name: str) -> None:
    """Logs an operation or function that runs eagerly, which is on the host."""
    print(f"Executing op {name} in device {_HOST}", file=sys.stderr)
