"""More programs of Keras, which run with TensorFlow 1.15 and with Penstock alike.

Metrics with thresholds, schedules, sparse gradients, generators, functions of the backend, and what
prepares data.  ``more_golden.json`` has what TensorFlow 1.15 has returned.
"""

import tempfile

import numpy as np

from tests.training.keras_models.programs import classifier, data, give_weights

PROGRAMS = {}
RNG = np.random.RandomState(11)
TRUTH = (RNG.rand(3, 8) > 0.5).astype("f")
SCORES = RNG.rand(3, 8).astype("f")
WEIGHTS = RNG.rand(3, 8).astype("f")


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def followed(tf, metric, batches):
    """Names of a metric's variables, its results batch by batch, and those after a reset."""
    fed = [[tf.constant(one) for one in batch] for batch in batches]
    updates = [metric.update_state(*batch) for batch in fed]
    result = metric.result()
    found = [[v.name for v in metric.weights]]
    with tf.Session() as session:
        session.run([v.initializer for v in metric.weights])
        for update in updates:
            session.run(update)
            found.append(session.run(result))
        config = metric.get_config()
    return [*found, {k: v for k, v in config.items() if k != "normalizer"}]


def of_metric(make, batches):
    return lambda tf: followed(tf, make(tf.keras.metrics), batches)


_PAIRS = [[TRUTH[0], SCORES[0]], [TRUTH[1], SCORES[1], WEIGHTS[1]]]
_ROWS = [[TRUTH, SCORES], [TRUTH[::-1].copy(), SCORES, WEIGHTS[:, 0]]]
_METRICS = {
    "auc": lambda m: m.AUC(),
    "auc_few": lambda m: m.AUC(num_thresholds=5, summation_method="minoring"),
    "auc_major": lambda m: m.AUC(num_thresholds=9, summation_method="majoring", name="area"),
    "auc_precision": lambda m: m.AUC(curve="PR"),
    "auc_precision_minor": lambda m: m.AUC(20, "PR", "minoring"),
    "auc_given": lambda m: m.AUC(thresholds=[0.2, 0.6]),
    "precision": lambda m: m.Precision(),
    "precision_several": lambda m: m.Precision([0.2, 0.5, 0.9]),
    "recall": lambda m: m.Recall(0.3),
    "positives": lambda m: m.TruePositives(),
    "negatives": lambda m: m.TrueNegatives([0.1, 0.7]),
    "false_positives": lambda m: m.FalsePositives(0.4),
    "false_negatives": lambda m: m.FalseNegatives(),
    "sensitivity": lambda m: m.SensitivityAtSpecificity(0.6),
    "specificity": lambda m: m.SpecificityAtSensitivity(0.6, num_thresholds=11),
    "root": lambda m: m.RootMeanSquaredError(),
    "relative": lambda m: m.MeanRelativeError([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 1.0]),
}
for _name, _make in _METRICS.items():
    PROGRAMS["metric_" + _name] = of_metric(_make, _PAIRS)
PROGRAMS["metric_top"] = of_metric(lambda m: m.Precision(top_k=2), _ROWS)
PROGRAMS["metric_class"] = of_metric(lambda m: m.Recall(class_id=3), [_ROWS[0]])
PROGRAMS["metric_top_class"] = of_metric(lambda m: m.Recall(top_k=3, class_id=1), [_ROWS[0]])
PROGRAMS["metric_tensor"] = of_metric(
    lambda m: m.MeanTensor(), [[SCORES], [SCORES * 2, WEIGHTS], [SCORES, WEIGHTS[:, :1]]]
)
PROGRAMS["metric_union"] = of_metric(
    lambda m: m.MeanIoU(num_classes=3),
    [[np.array([0, 1, 1, 2]), np.array([0, 1, 2, 2])],
     [np.array([[0], [1]]), np.array([[1], [1]]), np.array([0.5, 2.0], "f")]],
)  # fmt: skip


@program
def metric_names(tf):
    x, y = data()
    model = classifier(tf)
    metrics = tf.keras.metrics
    model.compile(
        "sgd", "categorical_crossentropy", metrics=[metrics.AUC(num_thresholds=20), "mae",
                                                    metrics.Precision(name="right")],
    )  # fmt: skip
    h = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0, validation_split=0.2)
    return [model.metrics_names, h.history, model.evaluate(x, y, verbose=0)]


@program
def huber(tf):
    loss = tf.keras.losses.Huber(0.5)
    found = loss(TRUTH, SCORES * 2), loss(TRUTH, SCORES * 2, sample_weight=WEIGHTS[:, 0])
    with tf.Session() as session:
        return [*session.run(found), loss.name]


@program
def sparse_gradients(tf):
    layers = tf.keras.layers
    optimizers = tf.keras.optimizers
    found = []
    for make in (
        lambda: optimizers.SGD(0.1, momentum=0.9), lambda: optimizers.Adamax(0.1),
        lambda: optimizers.SGD(0.1, momentum=0.5, nesterov=True), lambda: optimizers.Nadam(0.1),
        lambda: optimizers.RMSprop(0.1, momentum=0.5), lambda: optimizers.Adadelta(1.0),
        lambda: optimizers.RMSprop(0.1, momentum=0.5, centered=True),
        lambda: optimizers.Ftrl(0.1, l1_regularization_strength=0.01),
        lambda: optimizers.Ftrl(0.1, l2_shrinkage_regularization_strength=0.1),
    ):  # fmt: skip
        tf.keras.backend.clear_session()
        model = tf.keras.Sequential([layers.Embedding(7, 3, input_length=5), layers.Flatten()])
        give_weights(model)
        model.compile(make(), "mse")
        x = np.random.RandomState(3).randint(0, 6, (12, 5))
        h = model.fit(x, np.ones((12, 15)), 4, 3, 0, shuffle=False)
        found.append([h.history, model.get_weights()])
    return found


@program
def follow_the_leader(tf):
    x, y = data()
    found = []
    for given in ({}, {"l1_regularization_strength": 0.1, "learning_rate_power": -0.4}):
        model = classifier(tf)
        model.compile(tf.keras.optimizers.Ftrl(0.1, **given), "categorical_crossentropy")
        h = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
        names = [v.name for v in model.optimizer.weights]
        found.append([h.history, names, model.optimizer.get_config()])
    return found


@program
def schedules(tf):
    made = tf.keras.optimizers.schedules
    more = tf.keras.experimental
    several = [
        made.ExponentialDecay(0.1, 4, 0.5), made.ExponentialDecay(0.1, 4, 0.5, staircase=True),
        made.InverseTimeDecay(0.1, 4, 0.5), made.PolynomialDecay(0.1, 6, power=2.0),
        made.PolynomialDecay(0.1, 6, 0.01, cycle=True),
        made.PiecewiseConstantDecay([2, 7], [0.1, 0.05, 0.01]),
        more.CosineDecay(0.1, 8, alpha=0.1), more.CosineDecayRestarts(0.1, 4),
        more.LinearCosineDecay(0.1, 8),
    ]  # fmt: skip
    steps = tf.constant([0.0, 2.0, 3.0, 7.0, 9.0])
    rates = [[one(steps[i]) for i in range(5)] for one in several]
    with tf.Session() as session:
        found = session.run(rates)
    return [found, [one.get_config() for one in several]]


@program
def scheduled_training(tf):
    x, y = data()
    model = classifier(tf)
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.5, 3, 0.5)
    model.compile(tf.keras.optimizers.SGD(schedule), "categorical_crossentropy")
    h = model.fit(x, y, batch_size=5, epochs=2, shuffle=False, verbose=0)
    config = model.optimizer.get_config()
    again = tf.keras.optimizers.SGD.from_config(dict(config)).get_config()
    return [h.history, config, again]


def batches(tf, x, y):
    class Batches(tf.keras.utils.Sequence):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return x[index * 5 : index * 5 + 5], y[index * 5 : index * 5 + 5]

    return Batches()


def endless(given):
    while True:
        for index in range(len(given)):
            yield given[index]


def trained(tf, run):
    x, y = data()
    model = classifier(tf)
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    h = run(model, x, y, batches(tf, x, y))
    return [h.history, h.epoch, {k: v for k, v in h.params.items() if k != "verbose"}]


@program
def generators(tf):
    def run(model, x, y, given):
        return model.fit_generator(
            endless(given), 4, 2, 0, shuffle=False, workers=0, validation_data=(x, y)
        )

    def weighted(model, x, y, given):
        three = ((a, b, np.arange(5.0)) for a, b in endless(given))
        return model.fit_generator(three, 3, 2, 0, workers=0, class_weight={0: 1.0, 1: 2.0, 2: 3.0})

    return [trained(tf, run), trained(tf, weighted)]


@program
def sequences_of_batches(tf):
    def run(model, x, y, given):
        return model.fit_generator(given, None, 2, 0, shuffle=False, workers=0,
                                   validation_data=given)  # fmt: skip

    def fit(model, x, y, given):
        return model.fit(given, epochs=2, shuffle=False, verbose=0)

    return [trained(tf, run), trained(tf, fit)]


@program
def datasets(tf):
    def made(x, y, size):
        return tf.data.Dataset.from_tensor_slices((x, y)).batch(size)

    def run(model, x, y, given):
        return model.fit(made(x, y, 8), epochs=2, verbose=0, validation_data=made(x, y, 5))

    def steps(model, x, y, given):
        repeated = made(x, y, 5).repeat()
        return model.fit(repeated, epochs=2, steps_per_epoch=3, verbose=0,
                         validation_data=repeated, validation_steps=2)  # fmt: skip

    return [trained(tf, run), trained(tf, steps)]


@program
def evaluated_batches(tf):
    x, y = data()
    model = classifier(tf)
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    given = batches(tf, x, y)
    repeated = tf.data.Dataset.from_tensor_slices((x, y)).batch(6).repeat()
    return [
        model.evaluate_generator(given, workers=0),
        model.evaluate_generator(endless(given), steps=3, workers=0),
        model.predict_generator(given, workers=0), model.evaluate(repeated, steps=5, verbose=0),
        model.predict(tf.data.Dataset.from_tensor_slices(x).batch(6)),
        model.predict_generator((one for one in [x[:3], x[3:5]]), steps=2, workers=0),
    ]  # fmt: skip


@program
def cloned(tf):
    layers = tf.keras.layers
    given = tf.keras.Input((4,))
    shared = layers.Dense(4, name="shared")
    model = tf.keras.Model(given, layers.add([shared(given), shared(shared(given))]))
    made = [tf.keras.models.clone_model(one) for one in (model, classifier(tf))]
    give_weights(made[0])
    give_weights(made[1])
    x, _ = data()
    return [[[w.name for w in one.weights], one.predict(x), one.get_config()] for one in made]


@program
def texts(tf):
    text = tf.keras.preprocessing.text
    said = ["The cat sat on the mat.", "the dog, the CAT & a log", "", "no no\tno"]
    found = [
        text.text_to_word_sequence(said[1], lower=False), text.one_hot("", 5),
        text.hashing_trick(said[0], 50, "md5"),
    ]  # fmt: skip
    for given in ({}, {"num_words": 4}, {"oov_token": "?", "num_words": 5}, {"char_level": True}):
        made = text.Tokenizer(**given)
        made.fit_on_texts(said)
        numbers = made.texts_to_sequences([*said, "a fish sat"])
        modes = [made.texts_to_matrix(said, mode) for mode in ("binary", "count", "tfidf")]
        texts_again = made.sequences_to_texts(numbers)
        docs = sorted(made.index_docs.items())
        found.append([made.word_index, numbers, modes, texts_again, docs, made.document_count])
    return found


@program
def windows(tf):
    sequence = tf.keras.preprocessing.sequence
    series = np.arange(40).reshape(20, 2)
    found = []
    for given in (
        {}, {"batch_size": 4}, {"sampling_rate": 2, "stride": 3}, {"reverse": True},
        {"start_index": 3, "end_index": 12, "batch_size": 2},
    ):  # fmt: skip
        made = sequence.TimeseriesGenerator(series, series[:, 0], 4, **given)
        found.append([len(made), [made[index] for index in range(len(made))]])
    pairs = sequence.skipgrams([1, 2, 0, 3], 4, 2, 0.0, shuffle=False, categorical=True)
    return [found, pairs, sequence.make_sampling_table(6)]


@program
def backend(tf):
    K = tf.keras.backend
    x = tf.constant(SCORES)
    few, words = K.variable(SCORES[:, :3], name="few"), tf.constant([[1, 2], [0, 2]])
    weights = K.variable(np.ones((8, 2)))
    mask = tf.constant([True, False, True])
    labels = tf.constant([[1, 2, 0], [2, 0, 0]])
    sparse = K.ctc_label_dense_to_sparse(labels, tf.constant([2, 1]))
    steps = tf.nn.softmax(tf.constant(np.random.RandomState(5).rand(2, 6, 4), tf.float32))
    made = [
        K.sum(x), K.sum(x, 1, True), K.prod(x, 0), K.mean(x, -1), K.mean(mask), K.max(x, 1),
        K.min(x), K.var(x, 1), K.std(x), K.any(x > 0.9, 1), K.all(x, 0), K.argmax(x),
        K.argmin(x, 0), K.sqrt(x - 0.5), K.clip(x, 0.2, 0.6), K.clip(x, 0.7, 0.6), K.pow(x, 3),
        K.cast(x * 9, "int32"), K.l2_normalize(x, 1), K.dot(x, weights),
        K.dot(tf.ones([2, 3, 8]), weights), K.batch_flatten(tf.ones([2, 3, 4])), K.flatten(x),
        K.concatenate([x, x], 0), K.concatenate([x, few]), K.expand_dims(x, 1),
        K.squeeze(tf.ones([2, 1, 3]), 1), K.permute_dimensions(x, (1, 0)), K.repeat(few, 2),
        K.repeat_elements(few, 2, 1), K.tile(x, (1, 2)), K.gather(few, words), K.one_hot(words, 4),
        K.temporal_padding(tf.ones([1, 2, 3]), (1, 2)), K.is_sparse(x), K.to_dense(sparse),
        K.binary_crossentropy(tf.constant(TRUTH), x), K.abs(-x), K.round(x), K.square(x),
        K.relu(x - 0.5, alpha=0.1, max_value=0.3), K.hard_sigmoid(x), K.softmax(x), K.elu(-x),
        K.in_train_phase(x, lambda: x + 1, training=0), K.in_test_phase(x, few, training=0),
        K.switch(tf.constant(True), x, lambda: x + 1), K.switch(mask, few, few * 0),
        K.print_tensor(x), K.stop_gradient(x), K.gradients(K.sum(K.square(few)), [few]),
        K.ctc_batch_cost(labels, steps, tf.constant([[6], [5]]), tf.constant([[2], [1]])),
        K.zeros((2,)), K.ones((1, 2)), K.eye(2), K.reshape(x, (4, 6)), K.equal(x, x), K.exp(x),
    ]  # fmt: skip
    given = K.placeholder((None, 3))
    run = K.function([given], [given * 2, K.sum(given)], updates=[K.update_add(few, few)])
    session = K.get_session()
    found = [one if isinstance(one, bool) else session.run(one) for one in made]
    stepped = run([SCORES[:, 3:6]])
    kinds = [few.name, given.dtype.name, given.shape.as_list(), K.get_value(few)]
    phase = K.function([given], [K.in_train_phase(given, given * 3)])([SCORES[:, :3]])
    return [found, stepped, kinds, phase]


@program
def estimated(tf):
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(2, "softmax", input_shape=(3,), name="y")])
    give_weights(model)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    x, y = np.arange(12.0).reshape(4, 3).astype("f"), np.array([0, 1, 0, 1])

    def given():
        return tf.data.Dataset.from_tensor_slices(({"y_input": x}, y)).batch(2).repeat(3)

    with tempfile.TemporaryDirectory() as folder:
        estimator = tf.keras.estimator.model_to_estimator(model, model_dir=folder)
        estimator.train(given, steps=3)
        found = estimator.evaluate(given, steps=2)
        made = estimator.predict(
            lambda: tf.data.Dataset.from_tensor_slices({"y_input": x}).batch(2)
        )
        return [found, list(made), sorted(estimator.get_variable_names())]


@program
def lambda_layers(tf):
    scale = 3.0
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Lambda(lambda t: t * scale, input_shape=(2,)),
        layers.Lambda(lambda t, by=2.0: t + by, arguments={"by": 0.5}, output_shape=(2,)),
    ])  # fmt: skip
    again = tf.keras.models.model_from_json(model.to_json())
    config = layers.serialize(again.layers[1])
    kept = ("name", "function_type", "arguments", "output_shape_type", "module")
    return [again.predict(np.ones((2, 2))), {k: config["config"][k] for k in kept}]


@program
def event_files(tf):
    found = []
    x, y = data()
    for often in ("epoch", "batch", 10):
        tf.keras.backend.clear_session()
        model = classifier(tf)
        model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
        with tempfile.TemporaryDirectory() as folder:
            model.fit(
                x, y, batch_size=4, epochs=2, verbose=0, validation_split=0.2, shuffle=False,
                callbacks=[tf.keras.callbacks.TensorBoard(folder, update_freq=often,
                                                          profile_batch=0)],
            )  # fmt: skip
            paths = sorted(tf.gfile.Glob(folder + "/events*"))
            events = [one for path in paths for one in tf.train.summary_iterator(path)]
        found.append([[e.step, v.tag, v.simple_value] for e in events for v in e.summary.value])
    return found
