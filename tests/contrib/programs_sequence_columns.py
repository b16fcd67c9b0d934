"""Programs of ``tf.contrib.feature_column`` (``recorded``)."""

import hashlib
import tempfile

import numpy as np

from tests.contrib.recorded import nodes, refused, values

INDICES = np.int64([[0, 0], [0, 1], [2, 0]])


def _sparse(tf, dtype, name):
    return tf.SparseTensor(
        tf.placeholder(tf.int64, [None, 2], name=name + "/indices"),
        tf.placeholder(dtype, [None], name=name + "/values"),
        tf.placeholder(tf.int64, [2], name=name + "/shape"),
    )


def _digest(tf):
    """Names, types, inputs and control inputs of all nodes as a digest, and how many there are."""
    found = [
        (o.name, o.type, [i.name for i in o.inputs], sorted(c.name for c in o.control_inputs))
        for o in tf.get_default_graph().get_operations()
    ]
    return [len(found), hashlib.sha1(repr(found).encode()).hexdigest()]


def _table(shape, dtype=None, partition_info=None):
    return np.arange(np.prod(shape)).reshape(shape).astype("float32")


def _found(tf, make, given, collections=None, trainable=True):
    """What a layer of columns is: nodes, shapes, variables, values."""
    with tf.Graph().as_default():
        features, feed = {}, {}
        for key, found in sorted(given.items()):
            dtype = tf.string if isinstance(found[0], str) else tf.as_dtype(np.array(found).dtype)
            sparse = features[key] = _sparse(tf, dtype, key)
            feed[sparse] = (
                INDICES,
                np.array(found, None if dtype != tf.string else object),
                [3, 2],
            )
        layer = tf.contrib.feature_column.sequence_input_layer(
            features, make(), collections, trainable
        )
        found = [_digest(tf), [each.shape.as_list() for each in layer]]
        found.append([layer[0].dtype.name, layer[0].name, layer[1].name])
        keys = "variables", "trainable_variables", "model_variables", "mine"
        found.append([[v.name for v in tf.get_collection(key)] for key in keys])
        with tf.Session() as sess:
            sess.run(
                [v.initializer for v in set(tf.global_variables() + tf.get_collection("mine"))]
            )
            sess.run(tf.tables_initializer())
            return found + sess.run(list(layer), feed)


def _names(tf):
    package = tf.contrib.feature_column
    return package, tf.feature_column.embedding_column, tf.feature_column.indicator_column


def case_numbers(tf):
    make = tf.contrib.feature_column.sequence_numeric_column
    x, y = {"x": [1.5, 2.5, 3.5]}, {"x": [1.5, 2.5, 3.5], "y": [1.0, 2.0, 4.0]}
    return [
        _found(tf, lambda: [make("x")], {"x": np.float32(x["x"])}),
        _found(tf, lambda: make("x", default_value=-1.0), {"x": np.float32(x["x"])}),
        _found(
            tf,
            lambda: [make("y", shape=(1, 2), normalizer_fn=_doubled(tf)), make("x", shape=2)],
            {k: np.float32(v) for k, v in y.items()},
        ),
        _found(tf, lambda: [make("x", (1,), 7, tf.int64)], {"x": np.int64([3, 4, 5])}),
    ]


def _doubled(tf):
    return lambda x: tf.SparseTensor(x.indices, x.values * 2.0, x.dense_shape)


def case_categories(tf):
    package, embedding, indicator = _names(tf)
    ids, words = {"i": np.int64([2, 0, 1])}, {"w": ["b", "x", "a"]}
    path = tempfile.mkdtemp() + "/words"
    with open(path, "w") as out:
        out.write("a\nb\nc\n")
    identity = package.sequence_categorical_column_with_identity
    hashed = package.sequence_categorical_column_with_hash_bucket
    listed = package.sequence_categorical_column_with_vocabulary_list
    filed = package.sequence_categorical_column_with_vocabulary_file
    return [
        _found(tf, lambda: [embedding(identity("i", 3), 2, initializer=_table)], ids),
        # TensorFlow's older column selects by Select, that of tf.feature_column by SelectV2.
        _found(tf, lambda: [indicator(identity("i", 2, 1))], ids)[1:],
        _found(tf, lambda: [indicator(hashed("w", 3)), embedding(hashed("w", 3), 2, "sum",
               initializer=_table)], words),
        _found(tf, lambda: [indicator(hashed("i", 3, tf.int64))], ids),
        _found(tf, lambda: [indicator(listed("w", ["a", "b"], num_oov_buckets=1))], words),
        _found(tf, lambda: [embedding(listed("w", ["a", "b"], tf.string, 0), 2,
               initializer=_table)], words),
        _found(tf, lambda: [indicator(filed("w", path, 2, 2))], words)[1:],
        _found(tf, lambda: [indicator(filed("w", path, default_value=0))], words)[1:],
    ]  # fmt: skip


def case_several_columns(tf):
    package, embedding, _ = _names(tf)
    identity = package.sequence_categorical_column_with_identity
    given = {"i": np.int64([2, 0, 1]), "j": np.int64([1, 1, 0]), "n": np.float32([1.0, 2.0, 3.0])}

    def some():
        column = embedding(identity("i", 3), 2, initializer=_table)
        return [package.sequence_numeric_column("n"), column]

    def shared():
        columns = [identity("j", 3), identity("i", 3)]
        return tf.feature_column.shared_embedding_columns(columns, 2, initializer=_table)

    return [
        _found(tf, some, given, ["mine"], False),
        _found(tf, some, given, ["mine", "variables"]),
        _found(tf, shared, given),
        _found(tf, shared, given, ["mine"]),
    ]


def case_into_a_network(tf):
    package, embedding, _ = _names(tf)
    column = embedding(
        package.sequence_categorical_column_with_identity("i", 3), 2, initializer=_table
    )
    features = tf.parse_example(
        [_example(tf, [2, 0]), _example(tf, []), _example(tf, [1])],
        tf.feature_column.make_parse_example_spec([column]),
    )
    layer, length = package.sequence_input_layer(features, [column])
    ones = tf.ones_initializer()
    with tf.variable_scope("net", initializer=ones):
        outputs, state = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.BasicRNNCell(2), layer, length, dtype=tf.float32
        )
    gradient = tf.convert_to_tensor(tf.gradients(state, tf.trainable_variables()[0])[0])
    return values(tf, [layer, length, outputs, state, gradient])


def _example(tf, ids):
    value = tf.train.Feature(int64_list=tf.train.Int64List(value=ids))
    features = tf.train.Features(feature={"i": value} if ids else {})
    return tf.train.Example(features=features).SerializeToString()


def case_dense_features(tf):
    package, _, indicator = _names(tf)
    column = indicator(package.sequence_categorical_column_with_identity("i", 3))
    layer = package.sequence_input_layer({"i": tf.constant([[1, 2], [2, -1]], tf.int64)}, column)
    return [len(nodes(tf)), values(tf, list(layer))]


def case_lengths_that_differ(tf):
    make = tf.contrib.feature_column.sequence_numeric_column
    features = {
        "x": tf.SparseTensor([[0, 0], [0, 1]], [1.0, 2.0], [1, 2]),
        "y": tf.SparseTensor([[0, 0]], [1.0], [1, 2]),
    }
    layer = tf.contrib.feature_column.sequence_input_layer(features, [make("x"), make("y")])
    return refused(lambda: values(tf, list(layer)), "Condition x == y did not hold")


def case_what_is_refused(tf):
    package, embedding, _ = _names(tf)
    number, plain = package.sequence_numeric_column, tf.feature_column
    identity = package.sequence_categorical_column_with_identity
    x = tf.SparseTensor(INDICES, [1.0, 2.0, 3.0], [3, 2])
    i = tf.SparseTensor(INDICES, tf.constant([1, 2, 0], tf.int64), [3, 2])
    dense = tf.constant([[1.0]])

    def ask(features, columns, make=package.sequence_input_layer):
        return lambda: make(features, columns)

    of_plain = embedding(plain.categorical_column_with_identity("i", 3), 2)
    of_sequence = embedding(identity("i", 3), 2)
    wrong = "All feature_columns must be of type _SequenceDenseColumn. You can wrap a"
    return [
        refused(ask({"i": i}, [identity("i", 3)]), wrong),
        refused(ask({"x": dense}, [plain.numeric_column("x")]), wrong),
        refused(ask({"i": i}, [of_plain]), "must be of type SequenceCategoricalColumn to use"),
        refused(ask({"i": i}, [of_sequence], plain.input_layer), "must not be of type"),
        refused(ask({"x": x}, [number("x")], plain.input_layer), "must be a _DenseColumn"),
        refused(ask({"x": dense}, [number("x")]), "must be a SparseTensor"),
        refused(ask({"x": x}, []), "feature_columns must not be empty"),
        refused(ask({"x": x}, {"x": number("x")}), "to be iterable, found dict"),
        refused(ask({"x": x}, [number("x"), number("x")]), "Duplicate feature column name"),
        refused(ask({"x": x}, [number("y")]), "Feature y is not in features dictionary"),
        refused(ask(3, [number("x")])),
        refused(lambda: number("x", (1.5,)), "shape dimensions must be integer"),
        refused(lambda: number("x", (0,)), "shape dimensions must be greater than 0"),
        refused(lambda: number("x", dtype=tf.string), "dtype must be convertible to float"),
        refused(lambda: number("x", normalizer_fn=3), "normalizer_fn must be a callable"),
        refused(lambda: identity("i", 0), "num_buckets 0 < 1, column_name i"),
        refused(lambda: identity("i", 3, 5), "default_value 5 not in range [0, 3)"),
        refused(lambda: package.sequence_categorical_column_with_hash_bucket("i", 0), "at least 1"),
    ]
