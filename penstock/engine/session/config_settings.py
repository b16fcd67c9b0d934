"""``tf.config``: what holds for sessions that are given no config, and for eager execution.

Threads, the native compiler, the rewriting of graphs, soft placement, and which devices are seen.
What changes what is there already is settled once an operation has run eagerly.

Source: the behaviour of TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorboard.compat.proto.config_pb2 import OptimizerOptions
from tensorboard.compat.proto.rewriter_config_pb2 import RewriterConfig

from penstock.engine.session import local_devices, placement_log
from penstock.engine.session.options import defaults
from penstock.foundation.graph import scopes

_TOGGLES = (
    "layout_optimizer constant_folding shape_optimization remapping arithmetic_optimization"
    " dependency_optimization loop_optimization function_optimization debug_stripper"
    " scoped_allocator_optimization pin_to_host_optimization implementation_selector"
    " auto_mixed_precision"
).split()
_FLAGS = ("disable_model_pruning", "disable_meta_optimizer")
_POLICIES = ("explicit", "warn", "silent", "silent_for_int32")


class VirtualDeviceConfiguration(NamedTuple):
    """One of the devices that a physical one is taken for.

    Attributes:
      memory_limit: of a GPU, in MiB.
    """

    memory_limit: int | None = None


class Settings:
    """What was asked for; None and what is not there was not."""

    def __init__(self) -> None:
        self.threads: dict[str, int] = {}
        self.jit: bool | None = None
        self.soft: bool | None = None
        self.rewriting: dict[str, bool] = {}
        self.counts: dict[str, int] = {}
        self.virtual: dict[Any, list[VirtualDeviceConfiguration]] = {}
        self.visible: dict[str, list[Any]] = {}

    def apply(self, config: Any) -> None:
        """Writes it into a ``ConfigProto``."""
        for name, number in self.threads.items():
            setattr(config, f"{name}_op_parallelism_threads", number)
        if self.soft is not None:
            config.allow_soft_placement = self.soft
        graph = config.graph_options
        if self.jit is not None:
            graph.optimizer_options.global_jit_level = (
                OptimizerOptions.ON_1 if self.jit else OptimizerOptions.OFF
            )
        for name, wanted in self.rewriting.items():
            toggled = RewriterConfig.ON if wanted else RewriterConfig.OFF
            setattr(graph.rewrite_options, name, wanted if name in _FLAGS else toggled)
        for kind, count in self.counts.items():
            config.device_count[kind] = count


settings = Settings()


def _changed() -> None:
    """Sessions and eager execution read the settings from now on."""
    placement_log.asked.settings = settings.apply
    defaults.make = placement_log.default_config


def _at_startup(what: str) -> None:
    if placement_log.asked.begun:
        raise RuntimeError(f"{what} cannot be modified after initialization.")


# ---- threads ---------------------------------------------------------------------------------


def get_intra_op_parallelism_threads() -> int:
    """How many threads a kernel may take; 0: what is fastest."""
    return settings.threads.get("intra", 0)


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets how many threads a kernel may take.

    Raises:
      RuntimeError: another number holds, and an operation has run eagerly.
    """
    _set_threads("intra", num_threads)


def get_inter_op_parallelism_threads() -> int:
    """How many kernels may run at a time, as it was set; 0: as many as wish to."""
    return settings.threads.get("inter", 0)


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Sets how many kernels may run at a time, as ``ConfigProto`` has it.

    Raises:
      RuntimeError: another number holds, and an operation has run eagerly.
    """
    _set_threads("inter", num_threads)


def _set_threads(name: str, number: int) -> None:
    if settings.threads.get(name, 0) != number:
        _at_startup(f"{name.capitalize()} op parallelism")
    settings.threads[name] = number
    _changed()


# ---- rewriting -------------------------------------------------------------------------------


def get_jit() -> bool:
    """Whether steps get a native form at once."""
    return bool(settings.jit)


def set_jit(enabled: bool) -> None:
    """Sets whether steps get a native form at once."""
    settings.jit = bool(enabled)
    _changed()


def get_experimental_options() -> dict[str, bool]:
    """Which rewriting of graphs was switched on or off."""
    return {**dict.fromkeys(_FLAGS, False), **settings.rewriting}


def set_experimental_options(options: dict[str, bool]) -> None:
    """Switches rewriting of graphs on or off.

    Args:
      options: from names of ``RewriterConfig`` to whether; other names say nothing.  Of these
        ``disable_meta_optimizer`` leaves all of it out; the others are kept in the config.
    """
    known = {name: bool(on) for name, on in options.items() if name in (*_TOGGLES, *_FLAGS)}
    settings.rewriting.update(known)
    _changed()


# ---- placement -------------------------------------------------------------------------------


def get_soft_device_placement() -> bool:
    """Whether an operation may run elsewhere than a program says; eagerly it may by default."""
    if settings.soft is None:
        return bool(scopes.get_default_graph().executes)
    return settings.soft


def set_soft_device_placement(enabled: bool) -> None:
    """Sets whether an operation may run elsewhere than a program says."""
    settings.soft = bool(enabled)
    _changed()


def get_device_policy() -> str:
    """What happens to an input that is on another device: it is copied, silently."""
    return "silent"


def set_device_policy(device_policy: str | None) -> None:
    """Asks for what holds: inputs are copied silently to where an operation runs.

    Raises:
      ValueError: no policy.
      NotImplementedError: another policy.
    """
    if device_policy not in (None, *_POLICIES):
        raise ValueError(f"Not a valid device policy: {device_policy!r}")
    if device_policy not in (None, "silent"):
        raise NotImplementedError(
            f"device policy {device_policy!r}: inputs are copied silently to where they are needed"
        )


def get_synchronous_execution() -> bool:
    """Whether a call of an operation returns when its kernel was called, which it does."""
    return True


def set_synchronous_execution(enable: bool | None) -> None:
    """Asks for what holds.

    Raises:
      NotImplementedError: operations are to run later.
    """
    if enable is False:
        raise NotImplementedError("kernels are called as operations are")


# ---- devices ---------------------------------------------------------------------------------


def get_visible_devices(device_type: str | None = None) -> list[Any]:
    """The devices that sessions have."""
    all_ = local_devices.list_physical_devices(device_type)
    return [each for each in all_ if each in settings.visible.get(each.device_type, [each])]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Sets which devices sessions have: no GPU, or the first of them.

    Args:
      devices: one or a list, of ``list_physical_devices``.
      device_type: what kind is meant; None means all.

    Raises:
      ValueError: what is no device of this machine or of another kind, or no CPU is left.
      NotImplementedError: GPUs that are not the first.
      RuntimeError: other devices hold, and an operation has run eagerly.
    """
    wanted = devices if isinstance(devices, list) else [devices]
    there = local_devices.list_physical_devices()
    for each in wanted:
        if each not in there:
            raise ValueError(f"Unrecognized device: {each!r}")
        if device_type not in (None, each.device_type):
            raise ValueError(f"Unrecognized device: {each!r}; only {device_type}s are asked")
    for kind in [device_type] if device_type else sorted({each.device_type for each in there}):
        _see(kind, [one for one in there if one.device_type == kind], wanted)


def _see(kind: str, there: list[Any], wanted: Sequence[Any]) -> None:
    seen = [each for each in there if each in wanted]
    if seen == settings.visible.get(kind, there):
        return
    _at_startup("Visible devices")
    if kind == "CPU":
        raise ValueError("a session has the CPU always")
    if seen != there[: len(seen)]:
        raise NotImplementedError(f"{kind}s {seen}: sessions have the first, without a gap")
    settings.visible[kind], settings.counts[kind] = seen, len(seen)
    _changed()


def get_virtual_device_configuration(device: Any) -> list[VirtualDeviceConfiguration] | None:
    """The devices that a physical one is taken for; None: itself."""
    return settings.virtual.get(device)


def set_virtual_device_configuration(
    device: Any, virtual_devices: list[VirtualDeviceConfiguration]
) -> None:
    """Has the CPU taken for several devices.

    Args:
      device: of ``list_physical_devices``.
      virtual_devices: one for each.

    Raises:
      ValueError: no device of this machine, or a limit of a CPU's memory.
      NotImplementedError: a GPU as several.
      RuntimeError: another number holds, and an operation has run eagerly.
    """
    if device not in local_devices.list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    if settings.virtual.get(device) == virtual_devices:
        return
    _at_startup("Virtual devices")
    if device.device_type != "CPU":
        raise NotImplementedError("a GPU is one device")
    if any(each.memory_limit is not None for each in virtual_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    settings.virtual[device] = list(virtual_devices)
    settings.counts["CPU"] = len(virtual_devices)
    _changed()
