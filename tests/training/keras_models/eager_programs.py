"""Programs of Keras under eager execution, which run with TensorFlow 1.15 and Penstock alike.

As those of ``programs``; ``eager_golden.json`` has what TensorFlow 1.15 has returned.
"""

import numpy as np

PROGRAMS = {}
X = np.arange(12.0).reshape(4, 3).astype("f") / 10


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def give_weights(model):
    model.set_weights([np.arange(w.size).reshape(w.shape) / 10.0 for w in model.get_weights()])


def subclass(tf, **options):
    layers = tf.keras.layers

    class Mine(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = layers.Dense(4, **options)
            self.second = layers.Dense(1)

        def call(self, inputs):
            return self.second(self.first(inputs))

    return Mine()


@program
def sequential(tf):
    layers = tf.keras.layers
    first = layers.Dense(4, activation="tanh", input_shape=(3,))
    stack = [first, layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(2)]
    model = tf.keras.Sequential(stack)
    give_weights(model)
    model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=["mse"])
    return [
        [v.name for v in model.weights], [v.name for v in model.trainable_variables],
        model.output_shape, model(tf.constant(X)).numpy(), model.predict(X),
        model.evaluate(X, X[:, :2], verbose=0),
    ]  # fmt: skip


@program
def normalized(tf):
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.BatchNormalization(input_shape=(3,)), layers.Dense(1)])
    give_weights(model)
    model.compile(tf.keras.optimizers.Adam(0.05), "mse")
    history = model.fit(X, X[:, :1], epochs=3, batch_size=2, shuffle=False, verbose=0)
    return [history.history, model.get_weights()]


@program
def functional(tf):
    given = tf.keras.Input((3,))
    hidden = tf.keras.layers.Dense(4)(given)
    model = tf.keras.Model(given, [tf.keras.layers.concatenate([hidden, given]), hidden])
    give_weights(model)
    return [one.numpy() for one in model(X)]


@program
def taped(tf):
    found = []
    keras = tf.keras.optimizers
    for optimizer in (
        keras.SGD(0.01, momentum=0.9), keras.Adam(0.01), keras.RMSprop(0.01), keras.Nadam(0.01),
        keras.Adagrad(0.1, clipnorm=0.1), tf.train.AdamOptimizer(0.01),
    ):  # fmt: skip
        model = subclass(tf, kernel_regularizer=tf.keras.regularizers.l2(0.1))
        model(X)
        give_weights(model)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(X) - X[:, :1])) + model.losses[0]
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
        found.append([loss.numpy(), model.get_weights()])
    return found


@program
def subclassed(tf):
    model = subclass(tf)
    known = [model.built, len(model.weights)]
    model(X)
    give_weights(model)
    model.compile("sgd", "mse", metrics=["mae"])
    history = model.fit(X, X[:, :1], epochs=3, batch_size=2, shuffle=False, verbose=0)
    names = [v.name for v in model.variables]
    return [known, names, history.history, model.predict(X), model.evaluate(X, X[:, :1], verbose=0)]


@program
def metric_objects(tf):
    mean = tf.keras.metrics.Mean()
    found = [mean(3.0).numpy(), mean(5.0, sample_weight=3.0).numpy(), mean.result().numpy()]
    mean.reset_states()
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    accuracy([0, 1], [[0.9, 0.1], [0.8, 0.2]])
    older = tf.contrib.eager.metrics.Mean()
    older(3.0)
    older([1.0, 5.0], weights=[1.0, 3.0])
    exact = tf.contrib.eager.metrics.SparseAccuracy()
    exact([1, 0], [[0.1, 0.9], [0.1, 0.9]])
    return [
        *found, mean.result().numpy(), accuracy.result().numpy(), older.result().numpy(),
        [v.name for v in older.variables], exact.result().numpy(), exact.name,
    ]  # fmt: skip


@program
def layers_of_tf(tf):
    dense = tf.layers.Dense(3)
    shape = dense(X).shape.as_list()
    return [shape, [v.name for v in dense.variables], len(dense.trainable_weights)]
