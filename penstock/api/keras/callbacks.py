"""``tf.keras.callbacks``: explicit re-exports, no logic."""

from penstock.training.keras_models.callbacks import (
    Callback as Callback,
    CSVLogger as CSVLogger,
    EarlyStopping as EarlyStopping,
    History as History,
    LambdaCallback as LambdaCallback,
    LearningRateScheduler as LearningRateScheduler,
    ModelCheckpoint as ModelCheckpoint,
    ProgbarLogger as ProgbarLogger,
    ReduceLROnPlateau as ReduceLROnPlateau,
    TerminateOnNaN as TerminateOnNaN,
)
from penstock.training.keras_models.event_logging import TensorBoard as TensorBoard
from penstock.training.keras_models.monitors import (
    BaseLogger as BaseLogger,
    RemoteMonitor as RemoteMonitor,
)
