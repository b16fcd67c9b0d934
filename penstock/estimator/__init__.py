"""``tf.estimator``: the configuration of a trainer, and hooks under their later names."""

from penstock.estimator.run_config import RunConfig
from penstock.monitored.basic_hooks import (
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    StopAtStepHook,
)
from penstock.monitored.checkpoint_hook import CheckpointSaverHook, CheckpointSaverListener
from penstock.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from penstock.monitored.summary_hooks import (
    LoggingTensorHook,
    ProfilerHook,
    StepCounterHook,
    SummarySaverHook,
)
from penstock.monitored.timers import SecondOrStepTimer

__all__ = [
    "CheckpointSaverHook", "CheckpointSaverListener", "FeedFnHook", "FinalOpsHook",
    "GlobalStepWaiterHook", "LoggingTensorHook", "NanLossDuringTrainingError", "NanTensorHook",
    "ProfilerHook", "RunConfig", "SecondOrStepTimer", "SessionRunArgs", "SessionRunContext",
    "SessionRunHook", "SessionRunValues", "StepCounterHook", "StopAtStepHook", "SummarySaverHook",
]  # fmt: skip
