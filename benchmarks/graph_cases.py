"""The cases as TF1 programs: one source for Penstock, TensorFlow 2.21 and TensorFlow 1.15.

Each case is a function of the module that implements the API (``tf``), written with what
``tensorflow`` 1.15 and ``tensorflow.compat.v1`` share, and returns a ``Program``. A step is one
``Session.run`` of the loss and the training op with a batch fed from NumPy. Initial values come
in through placeholders, so that no graph holds hundreds of megabytes of constants.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence

import numpy as np

from benchmarks import data
from benchmarks.program import Program


class Model:
    """Variables with given initial values, and the session that runs them."""

    def __init__(self, tf: Any, parameters: data.Parameters) -> None:
        self._tf = tf
        self._initial: Dict[Any, np.ndarray] = {}
        self.variables: Dict[str, Any] = {}
        for name, value in parameters.items():
            initial = tf.placeholder(tf.float32, value.shape)
            self.variables[name] = tf.Variable(initial, name=name)
            self._initial[initial] = value

    def session(self) -> Any:
        """A session in which the variables have their initial values."""
        tf = self._tf
        session = tf.Session()
        session.run(tf.global_variables_initializer(), self._initial)
        self._initial.clear()
        return session

    def program(self, fetches: Any, feeds: List[Any], batches: List[data.Batch]) -> Program:
        """Initializes and returns the step; its value is the first fetch of several."""
        session = self.session()
        cycle = data.Cycle(batches)

        if isinstance(fetches, list):

            def step() -> Any:
                return session.run(fetches, dict(zip(feeds, cycle())))[0]

        else:

            def step() -> Any:
                return session.run(fetches, dict(zip(feeds, cycle())))

        return Program(step, session.close)


def null(tf: Any) -> Program:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        y = tf.add(x, 1.0)
        session = tf.Session()

    def step() -> Any:
        return session.run(y, {x: 3.0})

    return Program(step, session.close)


def digit_loss(tf: Any, labels: Any, logits: Any) -> Any:
    """The mean cross entropy."""
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits))


def softmax_logits(tf: Any, v: Dict[str, Any], x: Any) -> Any:
    """Softmax regression of the variables of ``data.softmax``."""
    return tf.matmul(x, v["w"]) + v["b"]


def softmax(tf: Any) -> Program:
    parameters, batches = data.softmax()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        x = tf.placeholder(tf.float32, [None, 784])
        y = tf.placeholder(tf.float32, [None, 10])
        loss = digit_loss(tf, y, softmax_logits(tf, model.variables, x))
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        return model.program([loss, train], [x, y], batches)


def mlp_logits(tf: Any, v: Dict[str, Any], x: Any) -> Any:
    """The network of the variables of ``data.mlp``."""
    hidden = tf.nn.relu(tf.matmul(x, v["w0"]) + v["b0"])
    hidden = tf.nn.relu(tf.matmul(hidden, v["w1"]) + v["b1"])
    return tf.matmul(hidden, v["w2"]) + v["b2"]


def mlp(tf: Any) -> Program:
    parameters, batches = data.mlp()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        x = tf.placeholder(tf.float32, [None, 784])
        y = tf.placeholder(tf.float32, [None, 10])
        loss = digit_loss(tf, y, mlp_logits(tf, model.variables, x))
        train = tf.train.AdamOptimizer(1e-3).minimize(loss)
        return model.program([loss, train], [x, y], batches)


def cnn(tf: Any) -> Program:
    parameters, batches = data.cnn()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        x = tf.placeholder(tf.float32, [None, 28, 28, 1])
        y = tf.placeholder(tf.float32, [None, 10])
        hidden = x
        for name in ("conv1", "conv2"):
            hidden = tf.nn.conv2d(hidden, v[name + "_w"], strides=[1, 1, 1, 1], padding="SAME")
            hidden = tf.nn.relu(tf.nn.bias_add(hidden, v[name + "_b"]))
            hidden = tf.nn.max_pool(
                hidden, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"
            )
        hidden = tf.reshape(hidden, [-1, 7 * 7 * 64])
        hidden = tf.nn.relu(tf.matmul(hidden, v["dense_w"]) + v["dense_b"])
        loss = digit_loss(tf, y, tf.matmul(hidden, v["out_w"]) + v["out_b"])
        train = tf.train.AdamOptimizer(1e-4).minimize(loss)
        return model.program([loss, train], [x, y], batches)


def word_loss(tf: Any, v: Dict[str, Any], words: Sequence[Any]) -> Any:
    """Noise contrastive estimation of ``data.word2vec``, for words and their labels."""
    inputs, labels = words
    return tf.reduce_mean(
        tf.nn.nce_loss(
            weights=v["nce_weights"],
            biases=v["nce_biases"],
            labels=labels,
            inputs=tf.nn.embedding_lookup(v["embeddings"], inputs),
            num_sampled=data.WORD2VEC_SAMPLED,
            num_classes=data.WORD2VEC_VOCABULARY,
        )
    )


def word2vec(tf: Any) -> Program:
    parameters, batches = data.word2vec()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        inputs = tf.placeholder(tf.int32, [128])
        labels = tf.placeholder(tf.int32, [128, 1])
        loss = word_loss(tf, v, (inputs, labels))
        train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
        return model.program([loss, train], [inputs, labels], batches)


def lstm(tf: Any) -> Program:
    parameters, batches = data.lstm()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        shape = [data.LSTM_BATCH, data.LSTM_STEPS]
        words = tf.placeholder(tf.int32, shape)
        targets = tf.placeholder(tf.int32, shape)
        state = tf.placeholder(tf.float32, [2 * data.LSTM_LAYERS, data.LSTM_BATCH, data.LSTM_UNITS])
        sequence = tf.unstack(tf.nn.embedding_lookup(v["embedding"], words), axis=1)
        states = tf.unstack(state)
        for layer in range(data.LSTM_LAYERS):
            cell, hidden = states[2 * layer], states[2 * layer + 1]
            outputs = []
            for x in sequence:
                gates = tf.matmul(tf.concat([x, hidden], 1), v["w%d" % layer]) + v["b%d" % layer]
                i, j, f, o = tf.split(gates, 4, axis=1)
                cell = tf.sigmoid(f + 1.0) * cell + tf.sigmoid(i) * tf.tanh(j)
                hidden = tf.sigmoid(o) * tf.tanh(cell)
                outputs.append(hidden)
            sequence = outputs
        flat = tf.reshape(tf.stack(sequence, axis=1), [-1, data.LSTM_UNITS])
        logits = tf.matmul(flat, v["out_w"]) + v["out_b"]
        entropies = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.reshape(targets, [-1]), logits=logits
        )
        loss = tf.reduce_sum(entropies) / float(data.LSTM_BATCH)
        variables = list(v.values())
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), data.LSTM_CLIP_NORM)
        optimizer = tf.train.GradientDescentOptimizer(1.0)
        train = optimizer.apply_gradients(list(zip(gradients, variables)))
        return model.program([loss, train], [words, targets, state], batches)


def _alexnet_logits(tf: Any, v: Dict[str, Any], images: Any) -> Any:
    hidden = images
    for name, _, _, stride, padding, pool in data.ALEXNET_CONVOLUTIONS:
        strides = [1, stride, stride, 1]
        hidden = tf.nn.conv2d(hidden, v[name + "_w"], strides=strides, padding=padding)
        hidden = tf.nn.relu(tf.nn.bias_add(hidden, v[name + "_b"]))
        if pool:
            hidden = tf.nn.max_pool(
                hidden, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="VALID"
            )
    hidden = tf.reshape(hidden, [-1, int(np.prod(data.ALEXNET_FEATURES))])
    for name, _ in data.ALEXNET_DENSE:
        hidden = tf.matmul(hidden, v[name + "_w"]) + v[name + "_b"]
        if name != data.ALEXNET_DENSE[-1][0]:
            hidden = tf.nn.relu(hidden)
    return hidden


def alexnet_forward(tf: Any) -> Program:
    parameters, batches = data.alexnet()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        images = tf.placeholder(tf.float32, [None, 224, 224, 3])
        logits = _alexnet_logits(tf, model.variables, images)
        return model.program(logits, [images], [batch[:1] for batch in batches])


def alexnet_training(tf: Any) -> Program:
    parameters, batches = data.alexnet()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        images = tf.placeholder(tf.float32, [None, 224, 224, 3])
        labels = tf.placeholder(tf.int32, [None])
        logits = _alexnet_logits(tf, model.variables, images)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
        train = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
        return model.program([loss, train], [images, labels], batches)


def construct(tf: Any) -> Program:
    """Builds (and drops) a 20-layer network with gradients and updates; gives its op count."""

    def step() -> int:
        graph = tf.Graph()
        with graph.as_default():
            x = tf.placeholder(tf.float32, [None, 256])
            y = tf.placeholder(tf.float32, [None, 256])
            hidden = x
            for layer in range(20):
                with tf.name_scope("layer%d" % layer):
                    w = tf.Variable(tf.truncated_normal([256, 256], stddev=0.1), name="w")
                    b = tf.Variable(tf.zeros([256]), name="b")
                    hidden = tf.matmul(hidden, w) + b
                    if layer < 19:
                        hidden = tf.nn.relu(hidden)
            loss = digit_loss(tf, y, hidden)
            tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            tf.global_variables_initializer()
        return len(graph.get_operations())

    return Program(step)


CASES: Dict[str, Callable[[Any], Program]] = {
    case.__name__: case
    for case in (
        null,
        softmax,
        mlp,
        cnn,
        word2vec,
        lstm,
        alexnet_forward,
        alexnet_training,
        construct,
    )
}
