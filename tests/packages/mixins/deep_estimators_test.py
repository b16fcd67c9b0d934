"""The tests of deep estimators that tensorflow-estimator ships as mix-ins.

They stand in its ``canned/dnn_testing_utils.py`` and the like; here they become test cases of the
deep estimators, and of the deep part of those that combine two.  It is a program for Python 3.7 as
well.
"""

from cases import case, deep_part
from tensorflow.python.feature_column import feature_column, feature_column_v2
from tensorflow_estimator.python.estimator.canned import (
    dnn,
    dnn_linear_combined,
    dnn_testing_utils,
)
from tensorflow_estimator.python.estimator.canned.v1 import dnn_testing_utils_v1


def _add(mixin, suffix, *tested, **kwargs):
    made = case(mixin, suffix, *tested, **kwargs)
    globals()[made.__name__] = made


def _add_all(suffix, mixins, classifier, regressor, **kwargs):
    for name in ("ClassifierEvaluate", "ClassifierPredict", "ClassifierTrain"):
        _add(getattr(mixins, "BaseDNN" + name + "Test"), suffix, classifier, **kwargs)
    for name in ("RegressorEvaluate", "RegressorPredict", "RegressorTrain"):
        _add(getattr(mixins, "BaseDNN" + name + "Test"), suffix, regressor, **kwargs)
    _add(mixins.BaseDNNWarmStartingTest, suffix, classifier, regressor, **kwargs)


_add(dnn_testing_utils.BaseDNNModelFnTest, "", dnn.dnn_model_fn_v2)
_add(dnn_testing_utils.BaseDNNLogitFnTest, "", dnn.dnn_logit_fn_builder_v2)
_add_all("", dnn_testing_utils, dnn.DNNClassifierV2, dnn.DNNRegressorV2)
_add_all(
    "Combined",
    dnn_testing_utils,
    deep_part(dnn_linear_combined.DNNLinearCombinedClassifierV2),
    deep_part(dnn_linear_combined.DNNLinearCombinedRegressorV2),
)

# Version 1 of the estimators takes columns of two kinds.
for _kind, _columns in (("V1", feature_column), ("V1NewColumns", feature_column_v2)):
    _of = {"fc_impl": _columns}
    _add(dnn_testing_utils_v1.BaseDNNModelFnTest, _kind, dnn._dnn_model_fn, **_of)
    _add(dnn_testing_utils_v1.BaseDNNLogitFnTest, _kind, dnn.dnn_logit_fn_builder, **_of)
    _add_all(_kind, dnn_testing_utils_v1, dnn.DNNClassifier, dnn.DNNRegressor, **_of)
    _add_all(
        "Combined" + _kind,
        dnn_testing_utils_v1,
        deep_part(dnn_linear_combined.DNNLinearCombinedClassifier),
        deep_part(dnn_linear_combined.DNNLinearCombinedRegressor),
        **_of,
    )
