"""``tf.contrib.learn.DynamicRnnEstimator`` (``recorded``)."""

from importlib import import_module

import numpy as np

from tests.contrib.recorded import names, refused

_X = np.array([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [0.0]]], "float32")


def _module(tf, name):
    """A module of the package that only its path leads to."""
    if tf.__name__ == "penstock":
        return getattr(tf.contrib.learn.estimators, name)
    return import_module("tensorflow.contrib.learn.python.learn.estimators." + name)


class _Filled:
    """A hook's record of a model; its weights are those that a rule gives, so that values agree."""

    def hook(self, tf):
        outer = self

        class Hook(tf.train.SessionRunHook):
            def begin(self):
                outer.variables = names(tf.global_variables())
                outer.local = names(tf.local_variables())
                graph = tf.get_default_graph()
                outer.nodes = sorted(
                    op.name + ":" + op.type
                    for op in graph.get_operations()
                    if "DynamicRNN" in op.name and "gradients" not in op.name
                )

            def after_create_session(self, session, coord):
                for i, variable in enumerate(tf.trainable_variables()):
                    value = np.sin(np.arange(np.prod(variable.shape.as_list())) + i) / 2
                    variable.load(value.reshape(variable.shape.as_list()), session)

        return Hook()


def _found(tf, problem, prediction, lengths=True, context=True, state=False, **more):
    constants, rnn_common = _module(tf, "constants"), _module(tf, "rnn_common")
    several = prediction == "MULTIPLE_VALUE"

    def input_fn():
        features = {"x": tf.constant(_X), "c": tf.constant([[0.5], [0.25]])}
        if lengths:
            features["sequence_length"] = tf.constant([3, 2])
        if state:
            features["rnn_cell_state_0"] = tf.constant([[0.5, -0.5], [0.25, 0.0]])
        labels = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]] if several else [[1.0], [0.0]]
        return features, tf.constant(np.array(labels, "int64" if more.get("num_classes") else "f"))

    columns = tf.contrib.layers.real_valued_column
    model = tf.contrib.learn.DynamicRnnEstimator(
        getattr(constants.ProblemType, problem), getattr(rnn_common.PredictionType, prediction),
        [columns("x")], [columns("c")] if context else None, num_units=2, **more
    )  # fmt: skip
    seen = _Filled()
    model.fit(input_fn=input_fn, steps=2, monitors=[seen.hook(tf)])
    scores = model.evaluate(input_fn=input_fn, steps=1)
    predicted = list(model.predict(input_fn=input_fn))
    trained = [v for v in seen.variables if "global_step" not in v]
    values = {name: model.get_variable_value(name.split(":")[0]) for name in trained}
    return [seen.variables, seen.local, seen.nodes, scores, predicted, values]


def _regression(tf, prediction, **more):
    return _found(tf, "LINEAR_REGRESSION", prediction, **more)


def _classes(tf, prediction, **more):
    return _found(tf, "CLASSIFICATION", prediction, **more)


def case_numbers_by_step(tf):
    return _regression(tf, "MULTIPLE_VALUE", cell_type="lstm")


def case_one_number(tf):
    return _regression(tf, "SINGLE_VALUE", cell_type="gru", learning_rate=0.05)


def case_one_number_without_lengths(tf):
    return _regression(tf, "SINGLE_VALUE", lengths=False, optimizer="Momentum", momentum=0.9)


def case_classes_by_step(tf):
    return _classes(tf, "MULTIPLE_VALUE", num_classes=3, predict_probabilities=True, context=False)


def case_two_classes_by_step_without_lengths(tf):
    return _classes(tf, "MULTIPLE_VALUE", num_classes=2, lengths=False, gradient_clipping_norm=None)


def case_one_class(tf):
    return _classes(tf, "SINGLE_VALUE", num_classes=2, predict_probabilities=True)


def case_a_state_that_is_given(tf):
    return _regression(tf, "SINGLE_VALUE", state=True)


def case_refused(tf):
    rnn_common = _module(tf, "rnn_common")
    make = tf.contrib.learn.DynamicRnnEstimator
    column = [tf.contrib.layers.real_valued_column("x")]
    cell = rnn_common.construct_rnn_cell
    return [
        refused(lambda: make(2, 7, column), "prediction_type must be one of"),
        refused(lambda: make(7, 1, column), "problem_type must be"),
        refused(lambda: make(1, 1, column), "num_classes must be specified"),
        refused(lambda: cell([2, 3], "lstm", [0.5, 0.5]), "one greater than the number of cells"),
        type(cell([2, 3], "lstm", [0.5, 0.5, 0.5])).__name__,
        type(cell(3, tf.nn.rnn_cell.GRUCell)).__name__,
    ]
