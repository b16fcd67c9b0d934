"""The tests of linear and deep estimators that tensorflow-estimator ships, as mix-ins.

They stand in its ``canned/*_testing_utils*.py``; this file makes test cases of them, each with what
it is to test: the estimators themselves, and those that combine a linear and a deep part, of which
one part is used.  It runs under Penstock and, with Python 3.7, under TensorFlow 1.15.
"""

from tensorflow.python.feature_column import feature_column, feature_column_v2
from tensorflow.python.platform import test
from tensorflow_estimator.python.estimator.canned import (
    dnn,
    dnn_linear_combined,
    dnn_testing_utils,
    linear,
    linear_testing_utils,
)
from tensorflow_estimator.python.estimator.canned.v1 import (
    dnn_testing_utils_v1,
    linear_testing_utils_v1,
)


def _case(mixin, *tested, **kwargs):
    """A test case of a mix-in, which is made with what it tests."""

    def begin(self, methodName="runTest"):  # noqa: N803  (unittest's name)
        test.TestCase.__init__(self, methodName)
        mixin.__init__(self, *tested, **kwargs)

    return type(mixin.__name__, (mixin, test.TestCase), {"__init__": begin})


def _add(suffix, mixin, *tested, **kwargs):
    name = mixin.__name__.replace("Base", "", 1) + suffix
    case = _case(mixin, *tested, **kwargs)
    case.__name__ = case.__qualname__ = name
    globals()[name] = case


def _deep_part(estimator):
    """The combined estimator, called as a deep one is."""

    def make(hidden_units, feature_columns, model_dir=None, optimizer=None, **kwargs):
        if optimizer is not None:
            kwargs["dnn_optimizer"] = optimizer
        return estimator(
            model_dir=model_dir,
            dnn_hidden_units=hidden_units,
            dnn_feature_columns=feature_columns,
            **kwargs
        )

    return make


def _linear_part(estimator):
    """The combined estimator, called as a linear one is."""

    def make(feature_columns, model_dir=None, optimizer=None, sparse_combiner="sum", **kwargs):
        if optimizer is not None:
            kwargs["linear_optimizer"] = optimizer
        if "partitioner" in kwargs:
            kwargs["input_layer_partitioner"] = kwargs.pop("partitioner")
        return estimator(
            model_dir=model_dir,
            linear_feature_columns=feature_columns,
            linear_sparse_combiner=sparse_combiner,
            **kwargs
        )

    return make


def _deep(suffix, mixins, classifier, regressor, **kwargs):
    for name in ("ClassifierEvaluate", "ClassifierPredict", "ClassifierTrain"):
        _add(suffix, getattr(mixins, "BaseDNN" + name + "Test"), classifier, **kwargs)
    for name in ("RegressorEvaluate", "RegressorPredict", "RegressorTrain"):
        _add(suffix, getattr(mixins, "BaseDNN" + name + "Test"), regressor, **kwargs)
    _add(suffix, mixins.BaseDNNWarmStartingTest, classifier, regressor, **kwargs)


def _linear(suffix, mixins, classifier, regressor, **kwargs):
    for name in ("Training", "Evaluation", "Predict", "Integration"):
        _add(suffix, getattr(mixins, "BaseLinearClassifier" + name + "Test"), classifier, **kwargs)
        _add(suffix, getattr(mixins, "BaseLinearRegressor" + name + "Test"), regressor, **kwargs)
    _add(suffix, mixins.BaseLinearWarmStartingTest, classifier, regressor, **kwargs)
    if hasattr(mixins, "BaseLinearRegressorPartitionerTest"):
        _add(suffix, mixins.BaseLinearRegressorPartitionerTest, regressor, **kwargs)


_add("", dnn_testing_utils.BaseDNNModelFnTest, dnn.dnn_model_fn_v2)
_add("", dnn_testing_utils.BaseDNNLogitFnTest, dnn.dnn_logit_fn_builder_v2)
_deep("", dnn_testing_utils, dnn.DNNClassifierV2, dnn.DNNRegressorV2)
_deep(
    "Combined",
    dnn_testing_utils,
    _deep_part(dnn_linear_combined.DNNLinearCombinedClassifierV2),
    _deep_part(dnn_linear_combined.DNNLinearCombinedRegressorV2),
)
_add("", linear_testing_utils.BaseLinearLogitFnTest)
_linear("", linear_testing_utils, linear.LinearClassifierV2, linear.LinearRegressorV2)
_linear(
    "Combined",
    linear_testing_utils,
    _linear_part(dnn_linear_combined.DNNLinearCombinedClassifierV2),
    _linear_part(dnn_linear_combined.DNNLinearCombinedRegressorV2),
)

# Version 1 of the estimators takes columns of two kinds.
for _kind, _columns in (("V1", feature_column), ("V1NewColumns", feature_column_v2)):
    _of = {"fc_impl": _columns}
    _add(_kind, dnn_testing_utils_v1.BaseDNNModelFnTest, dnn._dnn_model_fn, **_of)
    _add(_kind, dnn_testing_utils_v1.BaseDNNLogitFnTest, dnn.dnn_logit_fn_builder, **_of)
    _deep(_kind, dnn_testing_utils_v1, dnn.DNNClassifier, dnn.DNNRegressor, **_of)
    _deep(
        "Combined" + _kind,
        dnn_testing_utils_v1,
        _deep_part(dnn_linear_combined.DNNLinearCombinedClassifier),
        _deep_part(dnn_linear_combined.DNNLinearCombinedRegressor),
        **_of
    )
    _of = {"fc_lib": _columns}
    _add(_kind, linear_testing_utils_v1.BaseLinearLogitFnTest, **_of)
    _linear(_kind, linear_testing_utils_v1, linear.LinearClassifier, linear.LinearRegressor, **_of)
    _linear(
        "Combined" + _kind,
        linear_testing_utils_v1,
        _linear_part(dnn_linear_combined.DNNLinearCombinedClassifier),
        _linear_part(dnn_linear_combined.DNNLinearCombinedRegressor),
        **_of
    )
