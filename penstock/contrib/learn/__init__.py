"""``tf.contrib.learn``: its RunConfig, and what belongs to that."""

from penstock.contrib.learn.run_config import RunConfig, TaskType
from penstock.monitored.basic_hooks import NanLossDuringTrainingError

__all__ = ["NanLossDuringTrainingError", "RunConfig", "TaskType"]
