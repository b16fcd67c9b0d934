"""``from penstock.python import debug as tf_debug``: explicit re-exports, no logic."""

from penstock.debug.check_numerics import check_numerics_session
from penstock.debug.dump import WatchOptions, dump_step
from penstock.debug.dump_dir import (
    DebugDumpDir,
    DebugTensorDatum,
    WatchKeyDoesNotExistInDebugDumpDirError,
    has_inf_or_nan,
)
from penstock.debug.gradients import GradientsDebugger
from penstock.debug.wrappers import DumpingDebugWrapperSession, LocalCLIDebugWrapperSession
from penstock.monitored.debug_hooks import DumpingDebugHook, LocalCLIDebugHook

__all__ = [
    "DebugDumpDir",
    "DebugTensorDatum",
    "DumpingDebugHook",
    "DumpingDebugWrapperSession",
    "GradientsDebugger",
    "LocalCLIDebugHook",
    "LocalCLIDebugWrapperSession",
    "WatchKeyDoesNotExistInDebugDumpDirError",
    "WatchOptions",
    "check_numerics_session",
    "dump_step",
    "has_inf_or_nan",
]
