"""``tf.contrib.learn``: its RunConfig, and what belongs to that."""

from penstock.contrib.learn.run_config import RunConfig as RunConfig, TaskType as TaskType
from penstock.monitored.basic_hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
