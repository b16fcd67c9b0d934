"""Programs with canned estimators, for TensorFlow and Penstock (and Python 3.7).

Each model begins with values that a hook sets, so that losses can be compared.
"""

import json
import sys
import tempfile

import numpy as np

from tests.training.estimator.programs import exported, plain, watching

N = 24
_DICE = np.random.RandomState(3)
X = _DICE.randn(N, 1).astype("float32")
Z = _DICE.randn(N, 2).astype("float32")
WORDS = np.array([b"a", b"b", b"c", b"q"], dtype=object)[_DICE.randint(4, size=N)]
WEIGHTS = (1.0 + _DICE.rand(N, 1)).astype("float32")
BINARY = (X[:, 0] + Z[:, 1] > 0).astype("int64")
CLASSES = _DICE.randint(3, size=N).astype("int64")
NAMES = np.array([b"lo", b"hi"], dtype=object)[BINARY]
NUMBERS = (2 * X[:, 0] - Z[:, 0]).astype("float32")
PAIRS = np.stack([NUMBERS, -NUMBERS], 1)


def read(tf, labels, repeat=None):
    def input_fn():
        features = {"x": X, "z": Z, "w": WORDS, "g": WEIGHTS}
        data = tf.data.Dataset.from_tensor_slices((features, labels))
        return data.batch(8).repeat(repeat)

    return input_fn


def set_values(tf):
    """A hook that gives variables known values before the first step."""

    class Set(tf.train.SessionRunHook):
        def begin(self):
            self.made = []
            for variable in tf.trainable_variables():
                size = variable.shape.num_elements()
                value = np.sin(np.arange(size) + len(variable.op.name))
                value = 0.5 * value.reshape(variable.shape.as_list()).astype("float32")
                self.made.append(variable.assign(value))

        def after_create_session(self, session, coord):
            session.run(self.made)

    return Set()


def losses(tf):
    class Note(tf.train.SessionRunHook):
        def begin(self):
            self.found = []
            self.loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]

        def before_run(self, context):
            return tf.train.SessionRunArgs(self.loss)

        def after_run(self, context, values):
            self.found.append(float(values.results))

    return Note()


def columns(tf):
    fc = tf.feature_column
    word = fc.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
    return {
        "x": fc.numeric_column("x"), "z": fc.numeric_column("z", shape=2), "w": word,
        "e": fc.embedding_column(word, 2), "i": fc.indicator_column(word),
        "b": fc.bucketized_column(fc.numeric_column("x"), [-0.5, 0.5]),
        "h": fc.categorical_column_with_hash_bucket("w", 5),
    }  # fmt: skip


def program(make, labels, export=False):
    def run(tf):
        fc = columns(tf)
        made = make(tf, fc, tempfile.mkdtemp())
        watch, note = watching(tf), losses(tf)
        made.train(read(tf, labels), hooks=[set_values(tf), watch, note], steps=4)
        seen = watching(tf)
        metrics = made.evaluate(read(tf, labels, repeat=1), hooks=[seen])
        predicting = watching(tf)
        predicted = list(made.predict(read(tf, labels, repeat=1), hooks=[predicting]))
        found = {
            "train": watch.nodes, "losses": note.found, "eval": seen.nodes, "metrics": metrics,
            "predict": predicting.nodes, "first": predicted[0], "last": predicted[-1],
            "names": made.get_variable_names(),
            "sums": {n: float(np.sum(made.get_variable_value(n)))
                     for n in made.get_variable_names()},
        }  # fmt: skip
        if export:
            used = [fc[k] for k in "xze"]
            spec = tf.feature_column.make_parse_example_spec(used)
            receive = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
            (meta,) = exported(tf, made.export_savedmodel(tempfile.mkdtemp(), receive))
            found["signatures"], found["exported"] = meta[1], meta[2]
        for key in ("first", "last"):
            found[key] = {
                k: v.tolist() if v.dtype != object else [s.decode() for s in v.ravel()]
                for k, v in found[key].items()
            }
        return found

    return run


PROGRAMS = {
    "dnn_classifier": program(
        lambda tf, fc, d: tf.estimator.DNNClassifier([4, 3], [fc["x"], fc["z"], fc["e"]], d),
        BINARY, export=True,
    ),
    "dnn_classes": program(
        lambda tf, fc, d: tf.estimator.DNNClassifier(
            [4], [fc["x"], fc["i"]], d, n_classes=3, weight_column="g", optimizer="Adam",
            activation_fn=tf.tanh,
        ),
        CLASSES,
    ),
    "dnn_regressor": program(
        lambda tf, fc, d: tf.estimator.DNNRegressor(
            [3], [fc["x"], fc["z"]], d, optimizer=lambda: tf.train.AdamOptimizer(0.01),
            loss_reduction=tf.losses.Reduction.MEAN,
        ),
        NUMBERS,
    ),
    "dnn_normalized": program(
        lambda tf, fc, d: tf.estimator.DNNClassifier(
            [3, 2], [fc["x"], fc["z"]], d, batch_norm=True, optimizer="SGD"
        ),
        BINARY,
    ),
    "combined_normalized": program(
        lambda tf, fc, d: tf.estimator.DNNLinearCombinedRegressor(
            d, linear_feature_columns=[fc["w"]], dnn_feature_columns=[fc["x"]],
            dnn_hidden_units=[3], batch_norm=True,
        ),
        NUMBERS,
    ),
    "linear_classifier": program(
        lambda tf, fc, d: tf.estimator.LinearClassifier(
            [fc["x"], fc["w"], fc["b"]], d, label_vocabulary=["lo", "hi"]
        ),
        NAMES,
    ),
    "linear_classes": program(
        lambda tf, fc, d: tf.estimator.LinearClassifier([fc["z"], fc["h"]], d, n_classes=3),
        CLASSES,
    ),
    "linear_regressor": program(
        lambda tf, fc, d: tf.estimator.LinearRegressor(
            [fc["x"], fc["e"]], d, label_dimension=2, weight_column="g",
            optimizer=lambda: tf.train.GradientDescentOptimizer(0.01),
        ),
        PAIRS,
    ),
    "combined_classifier": program(
        lambda tf, fc, d: tf.estimator.DNNLinearCombinedClassifier(
            d, linear_feature_columns=[fc["w"], fc["b"]], dnn_feature_columns=[fc["x"], fc["e"]],
            dnn_hidden_units=[3],
        ),
        BINARY,
    ),
    "combined_regressor": program(
        lambda tf, fc, d: tf.estimator.DNNLinearCombinedRegressor(
            d, linear_feature_columns=[fc["h"]], dnn_feature_columns=[fc["z"]],
            dnn_hidden_units=[3], dnn_optimizer="RMSProp",
        ),
        NUMBERS,
    ),
    "combined_linear": program(
        lambda tf, fc, d: tf.estimator.DNNLinearCombinedRegressor(
            d, linear_feature_columns=[fc["x"]]
        ),
        NUMBERS,
    ),
    "baseline_classifier": program(
        lambda tf, fc, d: tf.estimator.BaselineClassifier(d, n_classes=3), CLASSES
    ),
    "baseline_regressor": program(
        lambda tf, fc, d: tf.estimator.BaselineRegressor(d, weight_column="g"), NUMBERS
    ),
}  # fmt: skip


def found_by(tf, name):
    return json.loads(json.dumps(plain(PROGRAMS[name](tf))))


def all_found(tf):
    return {name: found_by(tf, name) for name in PROGRAMS}


# What is compared with TensorFlow itself only, and not kept in a file.
GRAPHS = ("train", "eval", "predict", "exported")


def _refuse(*_):
    raise TypeError("a tensor has no value yet")


if __name__ == "__main__":
    import tensorflow
    from tensorflow.python.framework import ops

    # TensorFlow 1.15 expects this error of lists that hold tensors; NumPy 1.20 raises another.
    ops.Tensor.__array__ = _refuse
    with open(sys.argv[1], "w") as output:
        json.dump(all_found(tensorflow), output)
