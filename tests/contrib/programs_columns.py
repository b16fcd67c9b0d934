"""Programs of the feature columns of ``tf.contrib.layers`` (``recorded``)."""

import hashlib

import numpy as np

from tests.contrib.recorded import names, nodes, refused


def _digest(tf):
    """Names, types and inputs of all nodes, as a digest, and how many there are."""
    graph = tf.get_default_graph()
    found = [(o.name, o.type, [i.name for i in o.inputs]) for o in graph.get_operations()]
    return [len(found), hashlib.sha1(repr(found).encode()).hexdigest()]


def _sparse(tf, dtype, name):
    return tf.SparseTensor(
        tf.placeholder(tf.int64, [None, 2], name=name + "/indices"),
        tf.placeholder(dtype, [None], name=name + "/values"),
        tf.placeholder(tf.int64, [2], name=name + "/shape"),
    )


def _fed(tf):
    features = {
        "age": tf.placeholder(tf.float32, [None, 1], name="age"),
        "two": tf.placeholder(tf.float32, [None, 2], name="two"),
        "sex": _sparse(tf, tf.string, "sex"),
        "job": _sparse(tf, tf.string, "job"),
        "id": tf.placeholder(tf.int64, [None, 1], name="id"),
    }
    places = np.array([[0, 0], [1, 0], [2, 0]])
    size = np.array([3, 1])
    feed = {
        features["age"]: [[7.0], [30.0], [70.0]],
        features["two"]: [[-1.0, 0.5], [0.0, 2.0], [3.0, -2.0]],
        features["sex"]: (places, np.array(["F", "M", "F"], object), size),
        features["job"]: (places, np.array(["x", "y", "zz"], object), size),
        features["id"]: [[1], [7], [-1]],
    }
    return features, feed


def _columns(tf):
    make = tf.contrib.layers
    age = make.real_valued_column("age", normalizer=lambda x: x / 70.0)
    two = make.real_valued_column("two", dimension=2)
    sex = make.sparse_column_with_keys("sex", ["F", "M"])
    job = make.sparse_column_with_hash_bucket("job", 7)
    number = make.sparse_column_with_integerized_feature("id", 5)
    buckets = make.bucketized_column(two, [0.0, 1.0])
    ages = make.bucketized_column(age, [0.2, 0.5])
    cross = make.crossed_column([sex, job], 20)
    keyed = make.crossed_column([sex, ages], 20, hash_key=956888297470)
    return age, two, sex, job, number, buckets, ages, cross, keyed


def _counted(variables):
    """Assigns each variable numbers that tell its elements apart."""
    return [
        v.assign(np.arange(v.shape.num_elements(), dtype="float32").reshape(v.shape) / (i + 1))
        for i, v in enumerate(variables)
    ]


def _found(tf, outputs, feed):
    graph = [_digest(tf), nodes(tf)[-3:], names(tf.global_variables()),
             names(tf.get_collection(tf.GraphKeys.MODEL_VARIABLES))]  # fmt: skip
    counted = _counted(tf.global_variables())
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        sess.run(counted)
        return [*graph, sess.run(outputs, feed)]


def case_weighted_sums(tf):
    features, feed = _fed(tf)
    sums, _, bias = tf.contrib.layers.weighted_sum_from_feature_columns(
        features, _columns(tf), 2, weight_collections=["w"])  # fmt: skip
    return [*_found(tf, [sums, bias], feed), names(tf.get_collection("w"))]


def case_joint_sums(tf):
    features, feed = _fed(tf)
    _, _, sex, job, *_, cross, _ = _columns(tf)
    sums, variables, _ = tf.contrib.layers.joint_weighted_sum_from_feature_columns(
        features, [sex, job, cross], 2)  # fmt: skip
    return [*_found(tf, sums, feed), names(variables)]


def case_network_inputs(tf):
    make = tf.contrib.layers
    features, feed = _fed(tf)
    age, two, sex, job, number, buckets, _, cross, _ = _columns(tf)
    kept = {}
    given = [age, two, buckets, make.one_hot_column(sex), make.embedding_column(job, 3),
             make.embedding_column(cross, 2, combiner="sum")]  # fmt: skip
    given += list(
        make.shared_embedding_columns([job, make.sparse_column_with_hash_bucket("sex", 7)], 4)
    )
    result = make.input_from_feature_columns(features, given, cols_to_outs=kept)
    return [*_found(tf, [result, kept[given[4]]], feed), sorted(c.name for c in kept)]


def case_weighted_categories(tf):
    make = tf.contrib.layers
    places, size = np.array([[0, 0], [1, 0], [1, 1]]), np.array([2, 2])
    features = {"t": _sparse(tf, tf.string, "t"), "w": _sparse(tf, tf.float32, "w")}
    feed = {features["t"]: (places, np.array(["M", "M", "F"], object), size),
            features["w"]: (places, [1.0, 2.0, 4.0], size)}  # fmt: skip
    column = make.weighted_sparse_column(make.sparse_column_with_keys("t", ["F", "M"]), "w")
    sums, _, _ = make.weighted_sum_from_feature_columns(features, [column], 1)
    vectors = make.input_from_feature_columns(features, [make.embedding_column(column, 2)])
    return _found(tf, [sums, vectors], feed)


def case_parsing(tf):
    make = tf.contrib.layers
    given = _columns(tf)
    spec = make.create_feature_spec_for_parsing(given)
    fed = tf.placeholder(tf.string, [None])
    found = make.parse_feature_columns_from_examples(fed, [given[1], make.one_hot_column(given[2])])
    example = tf.train.Example()
    example.features.feature["two"].float_list.value.extend([1.0, 2.0])
    example.features.feature["sex"].bytes_list.value.append(b"M")
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        two = sess.run(found[given[1]], {fed: [example.SerializeToString()]})
    texts = sorted(map(str, found))
    held = make.make_place_holder_tensors_for_base_features(given[:4])
    kinds = {key: type(tensor).__name__ for key, tensor in held.items()}
    return [sorted(map(str, spec.items())), two, texts, kinds, _digest(tf)]


def case_inferred(tf):
    make = tf.contrib.layers
    return [
        [str(c) for c in make.infer_real_valued_columns({"a": tf.ones([2, 3]), "b": tf.ones([2])})],
        refused(lambda: make.infer_real_valued_columns(tf.constant(["x"])), "auto detection"),
    ]


def case_texts_and_refusals(tf):
    make = tf.contrib.layers
    age, two, sex, job, number, buckets, _, cross, keyed = _columns(tf)
    given = [two, sex, job, number, buckets, cross, make.one_hot_column(sex),
             make.embedding_column(job, 3),
             make.real_valued_column("d", 2, default_value=1)]  # fmt: skip
    texts = [[c.name, c.key] for c in given] + [age.key, keyed.name]
    one = tf.constant([["a"]])
    return texts + [
        refused(lambda: make.real_valued_column("a", dimension=0), "must be greater than 0"),
        refused(lambda: make.real_valued_column("a", dimension=1.5), "must be an integer"),
        refused(lambda: make.real_valued_column("a", dtype=tf.string), "convertible to float"),
        refused(lambda: make.real_valued_column("a", default_value=[1.0, 2.0]), "length of"),
        refused(lambda: make.real_valued_column("a", default_value="x"), "compatible with dtype"),
        refused(lambda: make.sparse_column_with_hash_bucket("a", 0), "must be at least 1"),
        refused(lambda: make.sparse_column_with_hash_bucket("a", 5, dtype=tf.float32), "dtype"),
        refused(lambda: make.sparse_column_with_integerized_feature("a", 5, dtype=tf.string)),
        refused(lambda: make.bucketized_column(two, []), "non-empty"),
        refused(lambda: make.bucketized_column(two, [2.0, 1.0]), "sorted list"),
        refused(lambda: make.bucketized_column(sex, [2.0]), "_RealValuedColumn"),
        refused(lambda: make.crossed_column([sex], 5), "at least 2 elements"),
        refused(lambda: make.crossed_column([sex, two], 5), "columns must be a set of"),
        refused(lambda: make.crossed_column([sex, job], 1), "at least 2"),
        refused(lambda: make.embedding_column(sex, 2, initializer=3), "must be callable"),
        refused(lambda: make.embedding_column(sex, 2, ckpt_to_load_from="x"), "or none of them"),
        refused(lambda: make.shared_embedding_columns([], 2), "at least one element"),
        refused(lambda: make.shared_embedding_columns([sex, job], 2), "not compatible"),
        refused(lambda: make.create_feature_spec_for_parsing([3]), "should only contain"),
        refused(lambda: make.input_from_feature_columns({"job": one}, [job]),
                "Error creating input layer for column: job"),
        refused(lambda: make.weighted_sum_from_feature_columns(
            {"job": one}, [make.embedding_column(job, 3)], 1), "Error creating weighted sum"),
    ]  # fmt: skip
