"""``tf.contrib.learn.SVM`` (``recorded``): what training comes to, whatever the order of visits."""

import tempfile

import numpy as np

from tests.contrib.recorded import names, refused


class _Seen:
    def hook(self, tf):
        outer = self

        class Hook(tf.train.SessionRunHook):
            def begin(self):
                outer.variables = names(tf.global_variables())
                outer.local = names(tf.local_variables())
                outer.trained = names(tf.trainable_variables())

        return Hook()


def _numbers(tf):
    features = {
        "example_id": tf.constant(["1", "2", "3", "4"]),
        "age": tf.constant([[1.0], [-2.0], [3.0], [-1.0]]),
        "sq": tf.constant([[0.5], [1.0], [-0.25], [2.0]]),
        "weights": tf.constant([[3.0], [1.0], [2.0], [0.5]]),
    }
    return features, tf.constant([[1], [0], [1], [0]])


def _words(tf):
    places = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [3, 0]]
    words = tf.SparseTensor(places, ["a", "b", "c", "a", "c", "b"], [4, 2])
    features = {
        "example_id": tf.constant(["w", "x", "y", "z"]),
        "words": words,
        "much": tf.SparseTensor(places, [1.0, 2.0, 1.0, 3.0, 0.5, 1.0], [4, 2]),
        "price": tf.constant([[0.2], [0.9], [0.4], [0.7]]),
    }
    return features, tf.constant([1, 0, 1, 0])


def _fitted(tf, data, columns, steps=200, **more):
    model = tf.contrib.learn.SVM("example_id", columns, model_dir=tempfile.mkdtemp(), **more)
    seen = _Seen()

    def input_fn():
        return data(tf)

    model.fit(input_fn=input_fn, steps=steps, monitors=[seen.hook(tf)])
    found = model.evaluate(input_fn=input_fn, steps=1)
    scores = [sorted(found), found["accuracy"], found["global_step"], round(found["loss"], 3)]
    predicted = [
        {key: np.round(value, 3).tolist() for key, value in one.items()}
        for one in model.predict(input_fn=input_fn)
    ]
    classes = [int(c) for c in model.predict_classes(input_fn=input_fn)]
    kept = sorted(model.get_variable_names())
    own = [n for n in kept if n.startswith("linear/")]
    weights = [np.round(model.get_variable_value(n), 3).tolist() for n in own]
    return [seen.variables, seen.local, seen.trained, scores, predicted, classes, kept, weights]


def _real(tf):
    return [tf.contrib.layers.real_valued_column(name) for name in ("age", "sq")]


def case_numbers(tf):
    return _fitted(tf, _numbers, _real(tf))


def case_l2(tf):
    return _fitted(tf, _numbers, _real(tf), l2_regularization=4.0)


def case_l1(tf):
    return _fitted(tf, _numbers, _real(tf), l1_regularization=0.5, l2_regularization=1.0)


def case_weighted_examples(tf):
    # Examples are visited in a random order: after 200 steps a loss is now and then another yet.
    return _fitted(
        tf, _numbers, _real(tf), steps=600, weight_column_name="weights", l2_regularization=2.0
    )


def case_words(tf):
    layers = tf.contrib.layers
    words = layers.sparse_column_with_hash_bucket("words", 8)
    buckets = layers.bucketized_column(layers.real_valued_column("price"), [0.3, 0.5, 0.8])
    return _fitted(tf, _words, [words, buckets])


def case_weighted_words(tf):
    layers = tf.contrib.layers
    words = layers.sparse_column_with_hash_bucket("words", 8)
    return _fitted(tf, _words, [layers.weighted_sparse_column(words, "much")])


def case_probabilities_are_refused(tf):
    model = tf.contrib.learn.SVM("example_id", _real(tf), model_dir=tempfile.mkdtemp())
    model.fit(input_fn=lambda: _numbers(tf), steps=1)
    return refused(lambda: list(model.predict_proba(input_fn=lambda: _numbers(tf))))


def case_kernels_are_refused(tf):
    make = tf.contrib.learn.SVM
    return refused(lambda: make("id", [], kernels=["rbf"]), "not currently supported")
