"""Test cases of mix-ins, each with what it is to test; for Python 3.7 as well."""

from tensorflow.python.platform import test


def case(mixin, suffix, *tested, **kwargs):
    """A test case of a mix-in, which is made with what it tests."""

    def begin(self, methodName="runTest"):
        test.TestCase.__init__(self, methodName)
        mixin.__init__(self, *tested, **kwargs)

    name = mixin.__name__.replace("Base", "", 1) + suffix
    return type(name, (mixin, test.TestCase), {"__init__": begin})


def deep_part(estimator):
    """The estimator that combines a linear and a deep part, called as a deep one is."""

    def make(hidden_units, feature_columns, model_dir=None, optimizer=None, **kwargs):
        if optimizer is not None:
            kwargs["dnn_optimizer"] = optimizer
        return estimator(
            model_dir=model_dir,
            dnn_hidden_units=hidden_units,
            dnn_feature_columns=feature_columns,
            **kwargs,
        )

    return make


def linear_part(estimator):
    """The same, called as a linear one is."""

    def make(feature_columns, model_dir=None, optimizer=None, sparse_combiner="sum", **kwargs):
        if optimizer is not None:
            kwargs["linear_optimizer"] = optimizer
        if "partitioner" in kwargs:
            kwargs["input_layer_partitioner"] = kwargs.pop("partitioner")
        return estimator(
            model_dir=model_dir,
            linear_feature_columns=feature_columns,
            linear_sparse_combiner=sparse_combiner,
            **kwargs,
        )

    return make
