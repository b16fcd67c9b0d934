"""Networks that many programs of Keras have: parts that learn by turns, are shared, or are frozen.

They run with TensorFlow 1.15 and with Penstock alike, as graphs and eagerly; ``told_golden.json``
has what TensorFlow 1.15 has returned.
"""

import glob
import os
import tempfile

import numpy as np

from tests.training.keras_models.seldom_layers import fed, patterned, rounded


def whole(shape, below, start=0):
    """Whole numbers that follow a pattern."""
    return (np.arange(np.prod(shape)) * 7 + start).reshape(shape) % below


def known(model):
    """The model with weights that follow a pattern; variances are not negative."""
    made = patterned(model.get_weights())
    pairs = zip(model.weights, made)
    model.set_weights([abs(one) if "variance" in w.name else one for w, one in pairs])
    return model


def moved(model, step):
    """How far a step moves each weight."""
    before = model.get_weights()
    step()
    return [float(abs(a - b).max()) for a, b in zip(before, model.get_weights())]


def trained(model, x, y, loss, optimizer="sgd"):
    known(model).compile(optimizer, loss, metrics=["accuracy"])
    found = [model.train_on_batch(x, y), model.train_on_batch(x, y)]
    return rounded([found, model.predict(x), model.count_params(), model.metrics_names])


def frozen_after_compile(tf):
    """What was trainable at ``compile`` is trained, whatever is set after it."""
    layers = tf.keras.layers
    x, y = fed([4, 3]), fed([4, 1])
    model = known(tf.keras.Sequential([layers.Dense(2, input_shape=[3]), layers.Dense(1)]))
    found = []
    for frozen in (False, True):
        model.trainable = not frozen
        model.compile("sgd", "mse")
        model.trainable = frozen
        found += [moved(model, lambda: model.train_on_batch(x, y)), len(model.trainable_weights)]
        model.trainable = True
        model.layers[0].trainable = False
        found += [moved(model, lambda: model.fit(x, y, verbose=0)), len(model.trainable_weights)]
        model.layers[0].trainable = True
    return rounded(found)


def adversaries(tf):
    """A discriminator that is frozen for the generator's sake alone."""
    layers = tf.keras.layers
    images = layers.Input([4, 4, 1])
    flat = layers.Flatten()(layers.LeakyReLU(0.2)(layers.Conv2D(3, 3)(images)))
    answers = [layers.Dense(1, activation="sigmoid")(flat), layers.Dense(2)(flat)]
    judge = known(tf.keras.Model(images, answers))
    noise = layers.Input([3])
    grown = layers.Reshape([2, 2, 1])(layers.BatchNormalization()(layers.Dense(4)(noise)))
    drawn = layers.Conv2DTranspose(1, 2, strides=2, activation="tanh")(grown)
    artist = known(tf.keras.Model(noise, drawn))
    losses = ["binary_crossentropy", "mse"]
    judge.compile(tf.keras.optimizers.Adam(0.01), losses)
    judge.trainable = False
    both = tf.keras.Model(noise, judge(artist(noise)))
    both.compile(tf.keras.optimizers.Adam(0.01, beta_1=0.5), losses)
    found = []
    for _ in range(2):
        made = artist.predict(fed([4, 3]))
        x = np.concatenate([made, fed([4, 4, 4, 1])])
        y = [np.array([0.0] * 4 + [1.0] * 4), fed([8, 2])]
        found += [
            judge.train_on_batch(x, y),
            both.train_on_batch(fed([4, 3]), [y[0][4:], y[1][:4]]),
        ]
    sizes = [len(one.trainable_weights) for one in (judge, artist, both)]
    return rounded([found, sizes, [float(abs(one).sum()) for one in judge.get_weights()]])


def encoder_inside(tf):
    """A loss of what is inside another model: that model's layers are met twice, and move once."""
    layers, backend = tf.keras.layers, tf.keras.backend
    x = layers.Input([6])
    hidden = layers.Dense(5, activation="relu")(x)
    mean, log = layers.Dense(2)(hidden), layers.Dense(2)(hidden)
    code = layers.Lambda(lambda both: both[0] + 0.3 * backend.exp(both[1] / 2))([mean, log])
    encoder = tf.keras.Model(x, [mean, log, code])
    held = layers.Input([2])
    decoder = tf.keras.Model(held, layers.Dense(6, activation="sigmoid")(held))
    output = decoder(encoder(x)[2])
    model = tf.keras.Model(x, output)
    away = backend.sum(backend.square(mean) + backend.exp(log) - log - 1, axis=-1)
    model.add_loss(backend.mean(tf.keras.losses.binary_crossentropy(x, output) * 6 + away / 2))
    known(model).compile(tf.keras.optimizers.Adam(0.01))
    data = abs(fed([4, 6]))
    losses = [model.train_on_batch(data) for _ in range(3)]
    weights = [float(abs(one).sum()) for one in model.get_weights()]
    return rounded([losses, weights, encoder.predict(data), decoder.predict(fed([3, 2]))])


def memories(tf):
    layers = tf.keras.layers

    def embedded(size, **more):
        return tf.keras.Sequential([layers.Embedding(10, size, **more), layers.Dropout(0.0)])

    story, question = layers.Input([6]), layers.Input([4])
    asked = embedded(5, input_length=4)(question)
    match = layers.Activation("softmax")(layers.dot([embedded(5)(story), asked], axes=(2, 2)))
    response = layers.Permute((2, 1))(layers.add([match, embedded(4)(story)]))
    hidden = layers.LSTM(7)(layers.concatenate([response, asked]))
    model = tf.keras.Model([story, question], layers.Dense(10, activation="softmax")(hidden))
    x = [whole([3, 6], 10), whole([3, 4], 10, 1)]
    return trained(model, x, whole([3, 1], 10), "sparse_categorical_crossentropy", "rmsprop")


def rows_of_rows(tf):
    layers = tf.keras.layers
    x = layers.Input([5, 4, 1])
    rows = layers.TimeDistributed(layers.LSTM(3))(x)
    model = tf.keras.Model(x, layers.Dense(4, activation="softmax")(layers.LSTM(3)(rows)))
    wanted = np.eye(4)[whole([3], 4)]
    return trained(model, fed([3, 5, 4, 1]), wanted, "categorical_crossentropy", "rmsprop")


def films(tf):
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.ConvLSTM2D(3, 3, input_shape=[None, 5, 5, 1], padding="same", return_sequences=True),
        layers.BatchNormalization(),
        layers.Conv3D(1, 3, activation="sigmoid", padding="same", data_format="channels_last"),
    ])  # fmt: skip
    wanted = abs(fed([2, 3, 5, 5, 1]))
    return trained(model, fed([2, 3, 5, 5, 1]), wanted, "binary_crossentropy", "adadelta")


def transferred(tf):
    layers = tf.keras.layers
    body = [layers.Conv2D(3, 3, input_shape=[6, 6, 1]), layers.BatchNormalization()]
    base = tf.keras.Sequential([*body, layers.Flatten()])
    base.trainable = False
    model = tf.keras.Sequential([base, layers.Dense(2, activation="softmax")])
    x, y = fed([3, 6, 6, 1]), np.eye(2)[whole([3], 2)]
    found = [trained(model, x, y, "categorical_crossentropy")]
    base.trainable = True
    model.compile("sgd", "categorical_crossentropy")
    found += [moved(model, lambda: model.train_on_batch(x, y)), len(model.trainable_weights)]
    return rounded(found)


def parts_of_models(tf):
    """Models and functions of what is inside another; a model that learns its inputs by use."""
    layers, backend = tf.keras.layers, tf.keras.backend
    hidden = layers.Dense(4, activation="relu", input_shape=[3], name="hidden")
    model = known(tf.keras.Sequential([hidden, layers.Dense(3), layers.Dense(1)]))
    inner = tf.keras.Model(model.input, model.get_layer("hidden").output)
    every = tf.keras.Model(model.inputs, [layer.output for layer in model.layers])
    between = backend.function([model.layers[0].input], [model.layers[1].output])
    late = tf.keras.Sequential([layers.Dense(2)])
    shape = list(late.predict(fed([2, 3])).shape)
    known(late)
    found = [late.predict(fed([2, 3])), inner.predict(fed([2, 3])), between([fed([2, 3])])]
    model.set_weights([2 * one for one in model.get_weights()])
    return rounded([shape, found, between([fed([2, 3])]), every.predict(fed([2, 3]))])


def frozen_averages(tf):
    layers = tf.keras.layers
    frozen = layers.BatchNormalization()
    model = known(tf.keras.Sequential([layers.Dense(3, input_shape=[3]), frozen]))
    frozen.trainable = False
    model.compile("sgd", "mse")
    step = moved(model, lambda: model.train_on_batch(fed([4, 3]), fed([4, 3])))
    return rounded([step, model.predict(fed([4, 3])), len(model.updates)])


def values(tf):
    """What the backend tells of tensors, variables and numbers."""
    backend = tf.keras.backend
    tensor, variable = backend.constant([[1.0, 2.0]]), backend.variable([1.0, 2.0])
    rows = tf.SparseTensor([[0, 0]], [5.0], [1, 2])
    found = [backend.eval(one) for one in (tensor, variable, rows, tensor * 3, 3.0)]
    found += [backend.get_value(tensor), backend.get_value(2.0)]
    found += backend.batch_get_value([variable, variable])
    backend.set_value(variable, [3.0, 4.0])
    return rounded([found, backend.eval(variable + 1.0)])


def called_often(tf):
    """Layers and models of several calls; callbacks whose logs have no default."""
    layers = tf.keras.layers
    one, other = layers.Input([3]), layers.Input([3])
    dense, flat = layers.Dense(2, name="often"), layers.Flatten()
    made = [dense(one), dense(other)]
    model = known(tf.keras.Model([one, other], layers.add(made)))
    outer = tf.keras.Model(one, model([one, one]))
    found = [dense.output_shape, dense.output is made[0], dense.input is one]
    found += [model.get_output_shape_at(1), model.get_input_shape_at(0), outer.output_shape]
    for shape in ([2, 3], [4, 3]):
        flat(layers.Input(shape))
    for ask in (lambda: flat.output_shape, lambda: model.get_output_at(2)):
        try:
            ask()
        except (AttributeError, ValueError) as error:
            found.append(str(error)[:60])

    class Told(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs):
            found.append(["begin", sorted(logs or {})])

        def on_train_end(self, logs):
            found.append(["end", sorted(logs or {})])

        def on_test_begin(self, logs):
            found.append(["test", sorted(logs or {})])

        def on_predict_batch_end(self, batch, logs):
            found.append([batch, sorted(logs), [list(each.shape) for each in logs["outputs"]]])

    model.compile("sgd", "mse")
    data = [fed([4, 3]), fed([4, 3])]
    ended = tf.keras.callbacks.LambdaCallback(on_train_end=lambda logs: found.append("ended"))
    model.fit(data, fed([4, 2]), verbose=0, callbacks=[Told(), ended])
    model.evaluate(data, fed([4, 2]), verbose=0, callbacks=[Told()])
    model.predict(data, batch_size=2, callbacks=[Told()])
    return rounded(found)


def given_inputs(tf):
    """Models of tensors, in a graph alone: nothing is fed, and a number of steps says how often."""
    if tf.executing_eagerly():
        return None
    rows = tf.data.Dataset.from_tensor_slices((fed([8, 3]), fed([8, 1]))).repeat().batch(4)
    x, y = rows.make_one_shot_iterator().get_next()
    given, more = tf.keras.Input(tensor=x), tf.keras.Input([2])
    hidden = tf.keras.layers.Dense(1)
    model = known(tf.keras.Model(given, hidden(given)))
    model.compile("sgd", "mse", metrics=["mae"], target_tensors=[y])
    found = [model.fit(epochs=2, steps_per_epoch=2, verbose=0).history]
    found += [model.evaluate(steps=2, verbose=0), model.train_on_batch(None, None)]
    found += [list(model.predict(None, steps=2).shape)]
    try:
        model.fit(verbose=0)
    except ValueError as error:
        found.append(str(error)[:90])
    total = tf.keras.layers.add([hidden(given), tf.keras.layers.Dense(1)(more)])
    both = known(tf.keras.Model([given, more], total))
    both.compile("sgd", "mse")
    found += [both.train_on_batch(fed([4, 2]), fed([4, 1]))]
    aimed = known(tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[3])]))
    aimed.compile("sgd", "mse", target_tensors=tf.constant(fed([4, 1])))
    return rounded([*found, aimed.train_on_batch(fed([4, 3]), None)])


def watched_weights(tf):
    """What ``TensorBoard`` is told of weights: in a graph alone."""
    if tf.executing_eagerly():
        return None
    layers = tf.keras.layers
    shown = [layers.Conv2D(2, 3, input_shape=[5, 5, 1], name="seen"), layers.Flatten()]
    model = known(tf.keras.Sequential([*shown, layers.Dense(3, name="hidden"), layers.Dense(1)]))
    model.compile("sgd", "mse", metrics=["mae"])
    data = fed([6, 5, 5, 1]), fed([6, 1])
    folder = tempfile.mkdtemp()
    board = tf.keras.callbacks.TensorBoard(
        folder, histogram_freq=2, write_grads=True, write_images=True, write_graph=False,
        profile_batch=0,
    )  # fmt: skip
    model.fit(*data, epochs=3, batch_size=6, verbose=0, validation_data=data, callbacks=[board])
    found = {}
    for path in glob.glob(os.path.join(folder, "*tfevents*")):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                image = [value.image.height, value.image.width]
                told = [value.histo.sum, value.histo.num, image, value.simple_value]
                found.setdefault(value.tag, []).append([event.step, told])
    return rounded(found)


PROGRAMS = {
    one.__name__: one
    for one in (
        values, called_often, frozen_after_compile, adversaries, encoder_inside, memories,
        rows_of_rows, films, transferred, parts_of_models, frozen_averages, given_inputs,
        watched_weights,
    )
}  # fmt: skip
