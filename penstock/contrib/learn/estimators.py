"""``tf.contrib.learn.estimators``: explicit re-exports by the paths of TF 0.x, no logic."""

from penstock.contrib.learn import (
    dynamic_rnn as dynamic_rnn_estimator,
    dynamic_rnn as rnn_common,
    estimator as estimator,
    model_fn as constants,
    model_fn as model_fn,
    run_config as run_config,
)
from penstock.contrib.learn.canned import (
    DNNClassifier as DNNClassifier,
    DNNRegressor as DNNRegressor,
    LinearClassifier as LinearClassifier,
    LinearRegressor as LinearRegressor,
)
from penstock.contrib.learn.estimator import (
    BaseEstimator as BaseEstimator,
    Estimator as Estimator,
    SKCompat as SKCompat,
)
from penstock.contrib.learn.model_fn import (
    ModeKeys as ModeKeys,
    ModelFnOps as ModelFnOps,
    NotFittedError as NotFittedError,
)
from penstock.contrib.learn.run_config import RunConfig as RunConfig

__all__ = ["constants", "dynamic_rnn_estimator", "rnn_common"]
