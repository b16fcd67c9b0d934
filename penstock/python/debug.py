"""``from penstock.python import debug as tf_debug``: explicit re-exports, no logic."""

from penstock.debug.check_numerics import check_numerics_session as check_numerics_session
from penstock.debug.dump import WatchOptions as WatchOptions, dump_step as dump_step
from penstock.debug.dump_dir import (
    DebugDumpDir as DebugDumpDir,
    DebugTensorDatum as DebugTensorDatum,
    WatchKeyDoesNotExistInDebugDumpDirError as WatchKeyDoesNotExistInDebugDumpDirError,
    has_inf_or_nan as has_inf_or_nan,
)
from penstock.debug.gradients import GradientsDebugger as GradientsDebugger
from penstock.debug.wrappers import (
    DumpingDebugWrapperSession as DumpingDebugWrapperSession,
    LocalCLIDebugWrapperSession as LocalCLIDebugWrapperSession,
)
from penstock.monitored.debug_hooks import (
    DumpingDebugHook as DumpingDebugHook,
    LocalCLIDebugHook as LocalCLIDebugHook,
)
