"""``tf.contrib.skflow``: what ``tf.contrib.learn`` was until TensorFlow 0.7; re-exports."""

from penstock.contrib.learn import models as models, monitors as monitors, ops as ops
from penstock.contrib.learn.older_estimators import (
    TensorFlowDNNClassifier as TensorFlowDNNClassifier,
    TensorFlowDNNRegressor as TensorFlowDNNRegressor,
    TensorFlowEstimator as TensorFlowEstimator,
    TensorFlowLinearClassifier as TensorFlowLinearClassifier,
    TensorFlowLinearRegressor as TensorFlowLinearRegressor,
)
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
