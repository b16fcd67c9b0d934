"""tensorflow-hub: modules are made, exported, loaded, fine-tuned, and used as feature columns."""

import json
import os
import tempfile

import numpy as np
import tensorflow as tf
import tensorflow_hub as hub

ANSWERS = {}
FOLDER = tempfile.mkdtemp()
WORDS = ["the", "cat", "sat", "on", "a", "mat"]


def give_weights(session, seed=0):
    """The same values in both, whatever initializers draw."""
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    numbers = np.random.RandomState(seed)
    for variable in sorted(tf.global_variables(), key=lambda v: v.name):
        if variable.dtype.base_dtype == tf.float32:
            value = 0.3 * numbers.randn(*variable.shape.as_list())
            variable.load(np.abs(value) if "variance" in variable.name else value, session)


def plain(value):
    return np.round(np.asarray(value, np.float64), 9).tolist()


def dense():
    """Two signatures, a regularizer, batch statistics, and tags for training."""

    def made(training):
        x = tf.placeholder(tf.float32, [None, 3], "x")
        w = tf.get_variable("w", [3, 4], regularizer=tf.keras.regularizers.l2(0.1))
        hidden = tf.nn.relu(tf.matmul(x, w) + tf.get_variable("b", [4]))
        normed = tf.layers.batch_normalization(hidden, training=training, name="norm")
        hub.add_signature(inputs=x, outputs=normed)
        hub.add_signature("more", inputs={"x": x}, outputs={"hidden": hidden, "sum": normed + 1})

    return hub.create_module_spec(
        made, tags_and_args=[(set(), {"training": False}), ({"train"}, {"training": True})]
    )


def export(spec, name, seed):
    path = os.path.join(FOLDER, name)
    with tf.Graph().as_default(), tf.Session() as session:
        module = hub.Module(spec)
        give_weights(session, seed)
        module.export(path, session)
    return path


def modules():
    spec = dense()
    path = export(spec, "dense", 1)
    loaded = hub.load_module_spec(path)
    ANSWERS["spec"] = {
        "signatures": sorted(loaded.get_signature_names()),
        "tags": sorted(sorted(tags) for tags in loaded.get_tags()),
        "inputs": {
            k: [v.dtype.name, v.get_shape().as_list()]
            for k, v in loaded.get_input_info_dict("more").items()
        },
        "outputs": {
            k: [v.dtype.name, v.get_shape().as_list()]
            for k, v in loaded.get_output_info_dict("more").items()
        },
        "files": sorted(
            os.path.relpath(os.path.join(d, f), path).split(".data-")[0]
            for d, _, fs in os.walk(path)
            for f in fs
        ),
    }
    x = np.random.RandomState(2).randn(8, 3).astype("float32")
    y = x.sum(1, keepdims=True)
    with tf.Graph().as_default(), tf.Session() as session:
        module = hub.Module(path, trainable=True, tags={"train"}, name="base")
        fed = tf.placeholder(tf.float32, [None, 3])
        features = module(fed)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        more = module({"x": fed}, signature="more", as_dict=True)
        logits = tf.matmul(
            features, tf.get_variable("top", [4, 1], initializer=tf.ones_initializer())
        )
        loss = tf.reduce_mean(tf.square(logits - y)) + tf.losses.get_regularization_loss()
        with tf.control_dependencies(updates):
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        first = session.run([features, more["hidden"], more["sum"]], {fed: x})
        losses = [session.run([loss, train], {fed: x})[0] for _ in range(4)]
        ANSWERS["tuned"] = {
            "first": [plain(one) for one in first],
            "losses": plain(losses),
            "variables": {v.name: plain(session.run(v)) for v in tf.global_variables()},
            "trainable": [v.name for v in tf.trainable_variables()],
            "map": sorted(module.variable_map),
            "updates": len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)),
            "regularizers": len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)),
        }
        again = os.path.join(FOLDER, "tuned")
        module.export(again, session)
        used = session.run(features, {fed: x})
    with tf.Graph().as_default(), tf.Session() as session:
        module = hub.Module(again, tags={"train"})
        found = module(x)
        session.run(tf.global_variables_initializer())
        ANSWERS["again"] = {
            "same": bool(np.allclose(session.run(found), used)),
            "train": len(tf.trainable_variables()),
        }


def text():
    """A table of words with their vocabulary as an asset, as text embedding columns need it."""
    vocabulary = os.path.join(FOLDER, "words.txt")
    with open(vocabulary, "w") as file:
        file.write("\n".join(WORDS) + "\n")

    def made():
        texts = tf.placeholder(tf.string, [None])
        table = tf.contrib.lookup.index_table_from_file(
            tf.constant(vocabulary, name="vocabulary"), num_oov_buckets=1
        )
        words = tf.string_split(texts)
        ids = tf.SparseTensor(words.indices, table.lookup(words.values), words.dense_shape)
        weights = tf.get_variable("embeddings", [len(WORDS) + 1, 3])
        found = tf.nn.safe_embedding_lookup_sparse(weights, ids, combiner="mean")
        hub.add_signature(inputs=texts, outputs=tf.reshape(found, [-1, 3]))

    path = export(hub.create_module_spec(made), "text", 3)
    os.remove(vocabulary)
    texts = np.array(["the cat sat", "a dog", "mat on mat", "the the"])
    column = hub.text_embedding_column("text", path, trainable=True)
    sparse = hub.sparse_text_embedding_column("words", path, "mean", None)
    with tf.Graph().as_default(), tf.Session() as session:
        words = tf.string_split(tf.constant(texts))
        found = tf.feature_column.input_layer(
            {"text": tf.constant(texts), "words": words, "size": tf.constant([[1.0]] * 4)},
            [column, sparse, tf.feature_column.numeric_column("size")],
        )
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        ANSWERS["text"] = {
            "values": plain(session.run(found)),
            "name": [column.name, sparse.name],
            "variables": sorted(v.name for v in tf.global_variables()),
            "trainable": sorted(v.name for v in tf.trainable_variables()),
            "spec": {
                str(k): str(v.shape)
                for k, v in tf.feature_column.make_parse_example_spec([column]).items()
            },
        }
    features = {"text": np.tile(texts, 4), "size": np.tile([[1.0]], [16, 1]).astype("float32")}
    labels = np.tile([0, 1, 1, 0], 4)
    estimator = tf.estimator.DNNClassifier(
        [4],
        [column, tf.feature_column.numeric_column("size")],
        optimizer=tf.train.AdagradOptimizer(0.3),
        config=tf.estimator.RunConfig(tf_random_seed=3, model_dir=os.path.join(FOLDER, "run")),
    )
    read = tf.estimator.inputs.numpy_input_fn(features, labels, 16, 60, shuffle=False)
    estimator.train(read)
    scores = estimator.evaluate(
        tf.estimator.inputs.numpy_input_fn(features, labels, 16, shuffle=False)
    )
    ANSWERS["estimator"] = {
        "learns": bool(scores["accuracy"] == 1.0),
        "step": int(scores["global_step"]),
        "variables": sorted(estimator.get_variable_names()),
    }


def images():
    """A module of images, and its column."""

    def made():
        x = tf.placeholder(tf.float32, [None, 6, 5, 3])
        kernel = tf.get_variable("kernel", [3, 3, 3, 4])
        found = tf.reduce_mean(tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME")), [1, 2])
        hub.add_signature(inputs={"images": x}, outputs=found)
        hub.attach_image_module_info(info())

    def info():
        info = hub.ImageModuleInfo()
        size = info.default_image_size
        size.height, size.width = 6, 5
        return info

    path = export(hub.create_module_spec(made), "images", 4)
    column = hub.image_embedding_column("pixels", path)
    pixels = np.random.RandomState(5).rand(2, 6, 5, 3).astype("float32")
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.feature_column.input_layer({"pixels": tf.constant(pixels)}, [column])
        session.run(tf.global_variables_initializer())
        ANSWERS["images"] = {
            "values": plain(session.run(found)),
            "size": hub.get_expected_image_size(column.module_spec),
            "variables": [v.name for v in tf.global_variables()],
            "trainable": len(tf.trainable_variables()),
        }


def state_of_others():
    """A module that cannot be exported says so; eval_function_for_module gives a function."""
    path = os.path.join(FOLDER, "dense")
    with hub.eval_function_for_module(path) as f:
        ANSWERS["function"] = plain(f(np.ones((2, 3), "float32")))
    with tf.Graph().as_default():
        module = hub.Module(path)
        try:
            module([[1.0, 2.0]])
        except (TypeError, ValueError) as error:
            ANSWERS["wrong"] = type(error).__name__
        try:
            hub.Module(path, tags={"other"})
        except ValueError as error:
            ANSWERS["tags"] = str(error)[:40]


for part in (modules, text, images, state_of_others):
    part()
print(json.dumps(ANSWERS))
