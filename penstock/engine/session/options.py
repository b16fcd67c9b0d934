"""What of a ConfigProto matters here, and the messages themselves."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from tensorboard.compat.proto.config_pb2 import (
    ConfigProto as ConfigProto,
    GPUOptions as GPUOptions,
    GraphOptions as GraphOptions,
    OptimizerOptions as OptimizerOptions,
    RunMetadata as RunMetadata,
    RunOptions as RunOptions,
)

from penstock.compiler.placement.available import local_devices
from penstock.compiler.placement.cost_model import CostModel
from penstock.compiler.placement.place import Placer
from penstock.engine.runtime import gpus

# The first is what holds where nobody says anything.
NATIVE_MODES = ("auto", "off", "on")
# What TensorFlow takes for yes in a variable of the environment.
_TRUE = ("1", "true", "True", "TRUE")


@dataclass(frozen=True)
class Options:
    """A session's options, as the pipeline reads them."""

    # TF's default is to refuse; programs that name GPUs set it.
    allow_soft_placement: bool = False
    log_device_placement: bool = False
    # The devices of a session of this process, and where its nodes are on them.
    placer: Placer = field(
        default_factory=lambda: Placer(local_devices(gpus=gpus.memory_of_gpus()), pruned_only=False)
    )
    timeout_in_ms: int = 0
    # That the kernels of a step are split among; 0: as many as are fastest (``runtime.teams``).
    threads: int = 0
    optimize: bool = True
    # Whether ``Session.graph_def`` says the shapes of all outputs.
    infer_shapes: bool = False
    # Every so many runs of a step, after the first so many, fill ``RunMetadata.cost_graph``.
    build_cost_model: int = 0
    build_cost_model_after: int = 0
    # Whether steps with control flow run by the dataflow executor also where it nests.  No field of
    # a ConfigProto says this: it is for tests and for looking into a suspected defect.
    dataflow: bool = field(default_factory=lambda: os.environ.get("PENSTOCK_DATAFLOW") == "1")
    # Whether steps get a native form: "auto" (those that prove hot, and nodes that ask for it),
    # "off", "on" (all, at once) or "marked" (nodes that ask for it).
    native: str = field(default_factory=lambda: native_mode(0, os.environ))


class Defaults:
    """What sessions have that are given no config: ``make`` gives one, where one was asked for."""

    make: Callable[[], Any] = staticmethod(lambda: None)


defaults = Defaults()


def apply_config(config: Any) -> Options:
    """Reads a ConfigProto and sets what is process-wide.

    Args:
      config: a ``ConfigProto`` or None.

    Returns:
      The options of the session.

    Raises:
      TypeError: ``config`` is something else.
    """
    if config is None:
        return Options()
    if not isinstance(config, ConfigProto):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    _apply_to_process(config)
    return options_of(config)


def _apply_to_process(config: Any) -> None:
    fraction = config.gpu_options.per_process_gpu_memory_fraction
    if fraction > 0 and torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(fraction)


def options_of(config: Any) -> Options:
    """The options that a ConfigProto (or None) gives a session; changes nothing."""
    if config is None:
        return Options()
    return Options(
        allow_soft_placement=config.allow_soft_placement,
        log_device_placement=config.log_device_placement,
        placer=_placer(config),
        timeout_in_ms=config.operation_timeout_in_ms,
        threads=max(config.intra_op_parallelism_threads, 0),
        optimize=config.graph_options.optimizer_options.opt_level >= 0
        and not config.graph_options.rewrite_options.disable_meta_optimizer,
        infer_shapes=config.graph_options.infer_shapes,
        build_cost_model=config.graph_options.build_cost_model,
        build_cost_model_after=config.graph_options.build_cost_model_after,
        native=native_mode(config.graph_options.optimizer_options.global_jit_level, os.environ),
    )


def native_mode(jit_level: int, environ: Mapping[str, str]) -> str:
    """Whether steps get a native form.

    Args:
      jit_level: ``global_jit_level`` of a config: OFF, DEFAULT, ON_1 or ON_2, which is as ON_1.
      environ: where ``PENSTOCK_NATIVE`` is looked up; what it says counts where the config says
        nothing, and ``off`` always does.  Where ``TF_DETERMINISTIC_OPS`` is set, no step changes
        its form, and with it the last bits of what it gives, because of the time that it took.

    Returns:
      ``"auto"``, ``"off"``, ``"on"``, or ``"marked"``: nodes that were made in an
      ``experimental_jit_scope`` alone.

    Raises:
      ValueError: ``PENSTOCK_NATIVE`` is something else.

    >>> native_mode(OptimizerOptions.ON_1, {})
    'on'
    >>> native_mode(OptimizerOptions.ON_1, {"PENSTOCK_NATIVE": "off"})
    'off'
    """
    said = environ.get("PENSTOCK_NATIVE") or ""
    if said not in ("", *NATIVE_MODES):
        allowed = ", ".join(NATIVE_MODES)
        raise ValueError(f"PENSTOCK_NATIVE is {said!r}; allowed are {allowed}")
    if said == "off":
        return "off"
    if jit_level == OptimizerOptions.OFF:
        return "marked"
    if jit_level >= OptimizerOptions.ON_1:
        return "on"
    return said or ("marked" if environ.get("TF_DETERMINISTIC_OPS") in _TRUE else NATIVE_MODES[0])


def _placer(config: Any) -> Placer:
    """Placement as the config asks for it; ``PENSTOCK_PLACEMENT=cost`` adds the cost model."""
    devices = local_devices(config.device_count, gpus.memory_of_gpus())
    cost = CostModel() if os.environ.get("PENSTOCK_PLACEMENT") == "cost" else None
    soft, log = config.allow_soft_placement, config.log_device_placement
    pruned_only = config.graph_options.place_pruned_graph
    return Placer(devices, soft=soft, log=log, cost=cost, pruned_only=pruned_only)


def check_run_arguments(options: Any, run_metadata: Any) -> None:
    """Refuses what is no ``RunOptions`` and no ``RunMetadata``; None stands for neither.

    Raises:
      TypeError: an argument is something else.
    """
    for name, given, wanted in (
        ("options", options, RunOptions), ("run_metadata", run_metadata, RunMetadata),
    ):  # fmt: skip
        if given is not None and not isinstance(given, wanted):
            raise TypeError(f"{name} must be a {wanted.__name__}; found {given!r}")
