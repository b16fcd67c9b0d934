"""Programs of the recurrent estimators of ``tf.contrib.estimator`` (``recorded``)."""

import hashlib
import tempfile

import numpy as np

from tests.contrib.recorded import refused

INDICES = np.int64([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]])
WEIGHTS = [[1.0], [2.0], [0.5]]


def _columns(tf):
    package = tf.contrib.feature_column
    ids = package.sequence_categorical_column_with_identity("i", 3)
    sequence = [tf.feature_column.embedding_column(ids, 2), package.sequence_numeric_column("n")]
    return sequence, [tf.feature_column.numeric_column("c")]


def _data(tf, labels):
    def input_fn():
        def sparse(found):
            return tf.SparseTensor(INDICES, found, [3, 3])

        features = {
            "i": sparse(np.int64([2, 0, 1, 1, 2, 0])),
            "n": sparse(np.float32([1.0, -1.0, 0.5, 2.0, -2.0, 0.25])),
            "c": np.float32([[0.5], [-1.0], [1.5]]),
            "w": np.float32(WEIGHTS),
        }
        return tf.data.Dataset.from_tensors((features, labels)).repeat()

    return input_fn


def _beginning(name, shape):
    """What a variable begins with: sums of squares of Adagrad as they are, others small."""
    if name == "global_step":
        return np.int64(0)
    if "Adagrad" in name:
        return np.full(shape, 0.1, "float32")
    size = int(np.prod(shape))
    return 0.5 * np.sin(1.0 + np.arange(size, dtype="float32")).reshape(shape)


def _write(tf, folder, shapes):
    """A checkpoint of variables of these names and shapes."""
    with tf.Graph().as_default(), tf.Session() as sess:
        made = {
            name: tf.Variable(_beginning(name, shape), name="v")
            for name, shape in sorted(shapes.items())
        }
        sess.run(tf.global_variables_initializer())
        tf.train.Saver(made).save(sess, folder + "/model.ckpt", 0)


def _found(tf, make, labels):
    """Names and shapes of variables; values after two steps, metrics, predictions."""
    data = _data(tf, labels)
    first = make(tempfile.mkdtemp())
    first.train(data, steps=1)
    shapes = {n: list(first.get_variable_value(n).shape) for n in first.get_variable_names()}
    folder = tempfile.mkdtemp()
    _write(tf, folder, shapes)
    made = make(folder)
    made.train(data, steps=2)
    sums = {n: float(np.square(made.get_variable_value(n)).sum()) for n in shapes}
    metrics = made.evaluate(data, steps=1)
    predictions = [
        {str(k): v for k, v in each.items() if v.dtype.kind in "fi"}
        for each, _ in zip(made.predict(data), range(3))
    ]
    return [shapes, sums, {k: float(v) for k, v in metrics.items()}, predictions]


def case_classifier(tf):
    sequence, context = _columns(tf)
    ask = tf.contrib.estimator.RNNClassifier

    def two_layers(folder):
        units = [3, 2]
        return ask(sequence, context, units, "lstm", n_classes=3, model_dir=folder)

    def weighted(folder):
        return ask(sequence, num_units=[2], cell_type="gru", weight_column="w", optimizer="SGD",
                   label_vocabulary=["no", "yes"], loss_reduction=tf.losses.Reduction.SUM,
                   model_dir=folder)  # fmt: skip

    def plain(folder):
        rate = tf.train.GradientDescentOptimizer(0.5)
        return ask(sequence, None, [2], optimizer=rate, model_dir=folder)

    return [
        _found(tf, two_layers, [[2], [0], [1]]),
        _found(tf, weighted, [["yes"], ["no"], ["yes"]]),
        _found(tf, plain, [[1], [0], [1]]),
    ]


def case_clipped_gradients(tf):
    sequence, _ = _columns(tf)
    head = tf.contrib.estimator.regression_head()

    def make(folder):
        return tf.contrib.estimator.RNNEstimator(
            head, sequence, num_units=[2], cell_type=tf.nn.rnn_cell.GRUCell, model_dir=folder,
            optimizer=lambda: tf.train.GradientDescentOptimizer(0.01),
        )  # fmt: skip

    return _found(tf, make, np.float32([[100.0], [-50.0], [70.0]]))


def case_estimator(tf):
    sequence, context = _columns(tf)

    def cell(mode):
        activation = tf.nn.relu if mode == tf.estimator.ModeKeys.PREDICT else tf.tanh
        return tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.BasicRNNCell(2, activation), _sum)

    def make(folder):
        return tf.contrib.estimator.RNNEstimator(
            tf.estimator.RegressionHead(label_dimension=2), sequence, context, rnn_cell_fn=cell,
            model_dir=folder,
        )  # fmt: skip

    labels = np.float32([[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0]])
    return _found(tf, make, labels)


def _sum(inputs, outputs):
    return inputs[:, :2] + outputs


def _nodes(tf, make):
    """Names, types and inputs of the nodes of a training step."""
    with tf.Graph().as_default():
        features, labels = {}, tf.placeholder(tf.int64, [None, 1], name="labels")
        for key, dtype in (("i", tf.int64), ("n", tf.float32)):
            features[key] = tf.SparseTensor(
                tf.placeholder(tf.int64, [None, 2], name=key + "/indices"),
                tf.placeholder(dtype, [None], name=key + "/values"),
                tf.placeholder(tf.int64, [2], name=key + "/shape"),
            )
        features["c"] = tf.placeholder(tf.float32, [None, 1], name="c")
        tf.train.create_global_step()
        made = make()
        made.model_fn(features, labels, "train", made.config)
        graph = tf.get_default_graph()
        found = [(o.name, o.type, [i.name for i in o.inputs]) for o in graph.get_operations()]
        return [len(found), hashlib.sha1(repr(found).encode()).hexdigest()]


def case_nodes(tf):
    sequence, context = _columns(tf)
    ask = tf.contrib.estimator.RNNClassifier
    cut = tf.fixed_size_partitioner(2)
    return [
        _nodes(tf, lambda: ask(sequence, context, [2])),
        _nodes(tf, lambda: ask(sequence, None, [2], "basic_rnn", input_layer_partitioner=cut)),
        _nodes(tf, lambda: ask(sequence[1:], context, [2], optimizer="Adam")),
    ]


def case_what_is_refused(tf):
    sequence, context = _columns(tf)
    package = tf.contrib.estimator
    head = package.regression_head()

    def ask(*args, **more):
        def build():
            made = package.RNNClassifier(*args, **more)
            features, labels = _data(tf, [[1], [0], [1]])().make_one_shot_iterator().get_next()
            tf.train.get_or_create_global_step()
            made.model_fn(features, labels, "train", made.config)

        return build

    def cell(mode):
        return tf.nn.rnn_cell.GRUCell(3)

    both = "num_units and cell_type must not be specified when using rnn_cell_fn"
    alone = package.RNNClassifier(sequence, num_units=[2])
    return [
        refused(ask(sequence, num_units=[3], rnn_cell_fn=cell), both),
        refused(ask(sequence, cell_type="lstm", rnn_cell_fn=cell), both),
        refused(ask(sequence, num_units=[3], cell_type=int), "Supported cell types are"),
        refused(ask(sequence, num_units=[3], cell_type="foo")),
        refused(ask(sequence)),
        refused(ask(sequence, rnn_cell_fn=lambda mode: 3), "is not an RNNCell"),
        refused(ask(sequence, num_units=[3], n_classes=1), "n_classes must be > 2: 1"),
        refused(ask(context, num_units=[3]), "must be of type _SequenceDenseColumn"),
        refused(ask(sequence, sequence, [3]), "must be a _DenseColumn"),
        refused(ask(sequence, num_units=[3], optimizer=3), "object is not an Optimizer instance"),
        refused(
            lambda: package.RNNEstimator(head, sequence, num_units=[2], return_sequences=True),
            "Provided head must be a `_SequentialHead` object when `return_sequences` is set",
        ),
        refused(
            lambda: alone.model_fn(tf.constant([1.0]), None, "infer", alone.config),
            "features should be a dictionary",
        ),
    ]
