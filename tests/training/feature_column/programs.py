"""Programs with feature columns, for TensorFlow and Penstock (and Python 3.7)."""

import os
import tempfile

import numpy as np

from tests.tf1_programs import answer

_WORDS = [[b"a", b"b"], [b"c", b""], [b"", b""], [b"zz", b"a"]]
_IDS = [[0, 1], [2, -1], [-1, -1], [3, 3]]


def _features(tf):
    given = {
        "x": np.array([[0.5], [1.5], [2.5], [40.0]], "float32"),
        "y": np.arange(8, dtype="float32").reshape(4, 2),
        "n": np.arange(4),
        "w": np.array(_WORDS, dtype=object),
        "i": np.array(_IDS, "int64"),
        "j": np.array(_IDS, "int64")[::-1].copy(),
    }
    # No constants: either side would compute other things of them beforehand.
    return {
        k: tf.placeholder_with_default(v, [None] + list(v.shape[1:]), name="in_" + k)
        for k, v in given.items()
    }


def _sparse(tf):
    def unknown(value, dtype, shape):
        return tf.placeholder_with_default(np.array(value, dtype), shape)

    at = unknown([[0, 0], [0, 1], [2, 0], [2, 2]], "int64", [None, 2])
    dims = unknown([4, 3], "int64", [2])
    return {
        "w": tf.SparseTensor(at, unknown([b"a", b"b", b"c", b"zz"], object, [None]), dims),
        "i": tf.SparseTensor(at, unknown([1, 0, 3, 2], "int64", [None]), dims),
        "f": tf.SparseTensor(at, unknown([0.5, 2.0, -1.0, 3.0], "float32", [None]), dims),
    }


def _constant(tf, value=0.25):
    """An initializer whose rows differ."""

    def initialize(shape, dtype=None, partition_info=None):
        size = int(np.prod(shape))
        return tf.constant(np.arange(size).reshape(shape) * value, tf.float32)

    return initialize


def _words(tf, **more):
    fc = tf.feature_column
    return fc.categorical_column_with_vocabulary_list("w", ["a", "b", "c"], **more)


def _layer(columns, sparse=False, model=False, **arguments):
    """A program that makes a layer of columns; its weights are assigned before it runs."""

    def program(tf):
        features = _sparse(tf) if sparse else _features(tf)
        made = columns(tf, tf.feature_column)
        if not model:
            return [tf.feature_column.input_layer(features, made, **arguments)]
        return [tf.feature_column.linear_model(features, made, **arguments)]

    return program


def _file(tf):
    path = os.path.join(tempfile.gettempdir(), "penstock_words.txt")
    with open(path, "w") as file:
        file.write("a\nb\nc\n")
    return path


COLUMNS = {
    "numeric": lambda tf, fc: [fc.numeric_column("x"), fc.numeric_column("y", shape=[2])],
    "numeric_normal": lambda tf, fc: [fc.numeric_column("x", normalizer_fn=lambda x: x * 2.0)],
    "numeric_integers": lambda tf, fc: [fc.numeric_column("n", dtype=tf.int64)],
    "bucketized": lambda tf, fc: [fc.bucketized_column(fc.numeric_column("x"), [1, 2.5, 10])],
    "bucketized_two": lambda tf, fc: [
        fc.bucketized_column(fc.numeric_column("y", shape=2), (2, 5))
    ],
    "hashed": lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_hash_bucket("w", 7))
    ],
    "hashed_integers": lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_hash_bucket("i", 7, tf.int64))
    ],
    "list": lambda tf, fc: [fc.indicator_column(_words(tf))],
    "list_others": lambda tf, fc: [fc.indicator_column(_words(tf, num_oov_buckets=2))],
    "list_default": lambda tf, fc: [fc.indicator_column(_words(tf, default_value=0))],
    "list_integers": lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("i", [3, 1, 2]))
    ],
    "file": lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_vocabulary_file("w", _file(tf)))
    ],
    "file_part": lambda tf, fc: [
        fc.indicator_column(
            fc.categorical_column_with_vocabulary_file("w", _file(tf), 2, num_oov_buckets=2)
        )
    ],
    "identity": lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_identity("i", 4))
    ],
    "identity_default": lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_identity("i", 3, default_value=0))
    ],
    "crossed": lambda tf, fc: [
        fc.indicator_column(
            fc.crossed_column(["w", fc.categorical_column_with_identity("i", 4)], 9)
        )
    ],
    "crossed_buckets": lambda tf, fc: [
        fc.indicator_column(
            fc.crossed_column(
                [fc.crossed_column(["w", "j"], 3),
                 fc.bucketized_column(fc.numeric_column("x"), [1, 2])], 11, hash_key=5,
            )
        )
    ],
    "embedded": lambda tf, fc: [
        fc.embedding_column(_words(tf), 3, initializer=_constant(tf)),
        fc.embedding_column(
            fc.categorical_column_with_identity("i", 4), 2, "sum", _constant(tf), max_norm=1.0
        ),
    ],
    "shared": lambda tf, fc: fc.shared_embedding_columns(
        [fc.categorical_column_with_identity("j", 4), fc.categorical_column_with_identity("i", 4)],
        2, "sqrtn", _constant(tf),
    ),
}  # fmt: skip
SPARSE = {
    "sparse_weighted": lambda tf, fc: [
        fc.indicator_column(fc.weighted_categorical_column(_words(tf), "f"))
    ],
    "sparse_embedded": lambda tf, fc: [
        fc.embedding_column(
            fc.weighted_categorical_column(_words(tf), "f"), 2, initializer=_constant(tf)
        )
    ],
    "sparse_identity": lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_identity("i", 4))
    ],
}
LINEAR = {
    "linear": lambda tf, fc: [
        fc.numeric_column("x"), _words(tf),
        fc.categorical_column_with_hash_bucket("i", 5, tf.int64),
        fc.bucketized_column(fc.numeric_column("y", shape=2), (2, 5)),
        fc.embedding_column(
            fc.categorical_column_with_identity("j", 4), 2, initializer=_constant(tf)
        ),
    ],
    "linear_one": lambda tf, fc: [fc.numeric_column("y", shape=2)],
    "linear_crossed": lambda tf, fc: [fc.crossed_column(["w", "i"], 10)],
}  # fmt: skip
LINEAR_SPARSE = {
    "linear_weighted": lambda tf, fc: [fc.weighted_categorical_column(_words(tf), "f")],
}


def _initialized(program):
    """The program with all its variables and tables assigned first, weights other than zeros."""

    def whole(tf):
        made = program(tf)
        session = tf.get_default_session()
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for variable in tf.global_variables():
            if variable.shape.ndims == 2 and "weights" in variable.op.name:
                size = variable.shape.num_elements()
                value = np.linspace(-1, 2, size).reshape(variable.shape.as_list())
                variable.load(value.astype("float32"), session)
        return made

    return whole


def _twice(tf):
    columns = [tf.feature_column.numeric_column("x")]
    features = _features(tf)
    with tf.variable_scope("outer"):
        one = tf.feature_column.linear_model(features, columns, units=3)
        two = tf.feature_column.input_layer(features, columns)
    three = tf.feature_column.linear_model(features, columns)
    four = tf.feature_column.linear_model(features, columns)
    five = tf.feature_column.input_layer(features, columns)
    return [one, two, three, four, five, tf.feature_column.input_layer(features, columns)]


def _parsed(tf):
    """Serialized examples, by the columns' own spec."""
    fc = tf.feature_column
    columns = [
        fc.numeric_column("x"), fc.numeric_column("y", shape=2, default_value=[1.0, 2.0]),
        fc.indicator_column(_words(tf)), fc.indicator_column(fc.crossed_column(["w", "v"], 5)),
    ]  # fmt: skip
    examples = []
    for number, words in enumerate([[b"a"], [b"b", b"c"]]):
        example = tf.train.Example()
        example.features.feature["x"].float_list.value.append(number)
        example.features.feature["w"].bytes_list.value.extend(words)
        example.features.feature["v"].bytes_list.value.extend([b"q"])
        examples.append(example.SerializeToString())
    examples = tf.placeholder_with_default(np.array(examples, object), [None])
    spec = fc.make_parse_example_spec(columns)
    return [fc.input_layer(tf.parse_example(examples, spec), columns)]


def _reported(tf):
    """What the dicts of ``input_layer`` and ``linear_model`` are filled with."""
    fc = tf.feature_column
    columns = LINEAR["linear"](tf, fc)
    found, tensors, summed = {}, {}, {}
    dense = [columns[0], columns[3], columns[4]]
    fc.input_layer(_features(tf), dense, ["mine"], False, found, tensors)
    fc.linear_model(_features(tf), columns, cols_to_vars=summed)
    names = [sorted([getattr(k, "name", k), [v.name for v in vs]] for k, vs in each.items())
             for each in (found, summed)]  # fmt: skip
    names.append(sorted([k.name, v.name] for k, v in tensors.items()))
    keys = ("trainable_variables", "variables", "model_variables", "mine")
    names.append([[v.name for v in tf.get_collection(k)] for k in keys])
    return [_bytes(tf, names)]


def _bytes(tf, value):
    return tf.constant(np.frombuffer(repr(value).encode(), "uint8"))


PROGRAMS = {
    **{name: _initialized(_layer(columns)) for name, columns in COLUMNS.items()},
    **{name: _initialized(_layer(columns, sparse=True)) for name, columns in SPARSE.items()},
    **{name: _initialized(_layer(columns, model=True)) for name, columns in LINEAR.items()},
    "linear_units": _initialized(
        _layer(LINEAR["linear"], model=True, units=3, sparse_combiner="mean")
    ),
    "linear_weighted": _initialized(
        _layer(LINEAR_SPARSE["linear_weighted"], sparse=True, model=True)
    ),
    "twice": _initialized(_twice),
    "parsed": _initialized(_parsed),
    "reported": _initialized(_reported),
}

ERRORS = {
    "key": lambda tf: tf.feature_column.numeric_column(3),
    "shape": lambda tf: tf.feature_column.numeric_column("x", shape=1.5),
    "shape_zero": lambda tf: tf.feature_column.numeric_column("x", shape=0),
    "dtype": lambda tf: tf.feature_column.numeric_column("x", dtype=tf.string),
    "default": lambda tf: tf.feature_column.numeric_column("x", default_value="a"),
    "default_shape": lambda tf: tf.feature_column.numeric_column("x", default_value=[1, 2]),
    "default_float": lambda tf: tf.feature_column.numeric_column(
        "x", dtype=tf.int64, default_value=1.5
    ),
    "normalizer": lambda tf: tf.feature_column.numeric_column("x", normalizer_fn=3),
    "boundaries": lambda tf: tf.feature_column.bucketized_column(
        tf.feature_column.numeric_column("x"), [2, 1]
    ),
    "no_boundaries": lambda tf: tf.feature_column.bucketized_column(
        tf.feature_column.numeric_column("x"), []
    ),
    "bucket_source": lambda tf: tf.feature_column.bucketized_column(_words(tf), [1]),
    "bucket_dims": lambda tf: tf.feature_column.bucketized_column(
        tf.feature_column.numeric_column("x", shape=[2, 2]), [1]
    ),
    "buckets": lambda tf: tf.feature_column.categorical_column_with_hash_bucket("w", 0),
    "no_buckets": lambda tf: tf.feature_column.categorical_column_with_hash_bucket("w", None),
    "bucket_dtype": lambda tf: tf.feature_column.categorical_column_with_hash_bucket(
        "w", 3, tf.float32
    ),
    "no_words": lambda tf: tf.feature_column.categorical_column_with_vocabulary_list("w", []),
    "same_words": lambda tf: tf.feature_column.categorical_column_with_vocabulary_list(
        "w", ["a", "a"]
    ),
    "float_words": lambda tf: tf.feature_column.categorical_column_with_vocabulary_list(
        "w", [1.5]
    ),
    "words_dtype": lambda tf: _words(tf, dtype=tf.int64),
    "words_both": lambda tf: _words(tf, default_value=0, num_oov_buckets=1),
    "no_file": lambda tf: tf.feature_column.categorical_column_with_vocabulary_file("w", ""),
    "absent_file": lambda tf: tf.feature_column.categorical_column_with_vocabulary_file(
        "w", "/absent/file"
    ),
    "identity_none": lambda tf: tf.feature_column.categorical_column_with_identity("i", 0),
    "identity_default": lambda tf: tf.feature_column.categorical_column_with_identity("i", 2, 2),
    "dimension": lambda tf: tf.feature_column.embedding_column(_words(tf), 0),
    "initializer": lambda tf: tf.feature_column.embedding_column(_words(tf), 2, initializer=3),
    "half_checkpoint": lambda tf: tf.feature_column.embedding_column(
        _words(tf), 2, ckpt_to_load_from="a"
    ),
    "shared_differ": lambda tf: tf.feature_column.shared_embedding_columns(
        [_words(tf), tf.feature_column.categorical_column_with_identity("i", 3)], 2
    ),
    "shared_sizes": lambda tf: tf.feature_column.shared_embedding_columns(
        [tf.feature_column.categorical_column_with_identity(k, n) for k, n in (("i", 3), ("j", 4))],
        2,
    ),
    "weights_dtype": lambda tf: tf.feature_column.weighted_categorical_column(
        _words(tf), "f", tf.string
    ),
    "crossed_one": lambda tf: tf.feature_column.crossed_column(["w"], 3),
    "crossed_size": lambda tf: tf.feature_column.crossed_column(["w", "v"], 0),
    "crossed_kind": lambda tf: tf.feature_column.crossed_column(["w", 3], 3),
    "crossed_hashed": lambda tf: tf.feature_column.crossed_column(
        ["v", tf.feature_column.categorical_column_with_hash_bucket("w", 3)], 3
    ),
    "not_dense": lambda tf: tf.feature_column.input_layer(_features(tf), [_words(tf)]),
    "no_column": lambda tf: tf.feature_column.input_layer(_features(tf), ["x"]),
    "no_columns": lambda tf: tf.feature_column.input_layer(_features(tf), []),
    "a_dict": lambda tf: tf.feature_column.input_layer(_features(tf), {}),
    "same_names": lambda tf: tf.feature_column.input_layer(
        _features(tf), [tf.feature_column.numeric_column("x")] * 2
    ),
    "no_feature": lambda tf: tf.feature_column.input_layer(
        _features(tf), [tf.feature_column.numeric_column("absent")]
    ),
    "scalar": lambda tf: tf.feature_column.input_layer(
        {"x": tf.constant(1.0)}, [tf.feature_column.numeric_column("x")]
    ),
    "batches": lambda tf: tf.feature_column.input_layer(
        {"x": tf.zeros([2, 1]), "y": tf.zeros([3, 1])},
        [tf.feature_column.numeric_column(k) for k in "xy"],
    ),
    "category_type": lambda tf: tf.feature_column.linear_model(
        {"w": tf.constant([[1]])}, [_words(tf)]
    ),
    "sequence_here": lambda tf: tf.feature_column.input_layer(
        _sparse(tf),
        [tf.feature_column.indicator_column(
            tf.feature_column.sequence_categorical_column_with_identity("i", 3))],
    ),
    "parse_specs": lambda tf: tf.feature_column.make_parse_example_spec(
        [tf.feature_column.numeric_column("x"),
         tf.feature_column.categorical_column_with_identity("x", 3)]
    ),
    "parse_spec_kind": lambda tf: tf.feature_column.make_parse_example_spec(["x"]),
}  # fmt: skip

if __name__ == "__main__":
    answer(PROGRAMS, ERRORS)
