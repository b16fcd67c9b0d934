"""``tf.contrib.learn``: its RunConfig and what belongs to that; data sets."""

from penstock.contrib.learn import datasets as datasets, preprocessing as preprocessing
from penstock.contrib.learn.run_config import RunConfig as RunConfig, TaskType as TaskType
from penstock.training.monitored.basic_hooks import (
    NanLossDuringTrainingError as NanLossDuringTrainingError,
)
