"""The tests of linear estimators that tensorflow-estimator ships as mix-ins.

They stand in its ``canned/linear_testing_utils.py`` and the like; here they become test cases of
the linear estimators, and of the linear part of those that combine two.  It is a program for Python
3.7 as well.
"""

from cases import case, linear_part
from tensorflow.python.feature_column import feature_column, feature_column_v2
from tensorflow_estimator.python.estimator.canned import (
    dnn_linear_combined,
    linear,
    linear_testing_utils,
)
from tensorflow_estimator.python.estimator.canned.v1 import linear_testing_utils_v1


def _add(mixin, suffix, *tested, **kwargs):
    made = case(mixin, suffix, *tested, **kwargs)
    globals()[made.__name__] = made


def _add_all(suffix, mixins, classifier, regressor, **kwargs):
    for name in ("Training", "Evaluation", "Predict", "Integration"):
        _add(getattr(mixins, "BaseLinearClassifier" + name + "Test"), suffix, classifier, **kwargs)
        _add(getattr(mixins, "BaseLinearRegressor" + name + "Test"), suffix, regressor, **kwargs)
    _add(mixins.BaseLinearWarmStartingTest, suffix, classifier, regressor, **kwargs)
    if hasattr(mixins, "BaseLinearRegressorPartitionerTest"):
        _add(mixins.BaseLinearRegressorPartitionerTest, suffix, regressor, **kwargs)


_add(linear_testing_utils.BaseLinearLogitFnTest, "")
_add_all("", linear_testing_utils, linear.LinearClassifierV2, linear.LinearRegressorV2)
_add_all(
    "Combined",
    linear_testing_utils,
    linear_part(dnn_linear_combined.DNNLinearCombinedClassifierV2),
    linear_part(dnn_linear_combined.DNNLinearCombinedRegressorV2),
)

# Version 1 of the estimators takes columns of two kinds.
for _kind, _columns in (("V1", feature_column), ("V1NewColumns", feature_column_v2)):
    _of = {"fc_lib": _columns}
    _add(linear_testing_utils_v1.BaseLinearLogitFnTest, _kind, **_of)
    _add_all(_kind, linear_testing_utils_v1, linear.LinearClassifier, linear.LinearRegressor, **_of)
    _add_all(
        "Combined" + _kind,
        linear_testing_utils_v1,
        linear_part(dnn_linear_combined.DNNLinearCombinedClassifier),
        linear_part(dnn_linear_combined.DNNLinearCombinedRegressor),
        **_of,
    )
