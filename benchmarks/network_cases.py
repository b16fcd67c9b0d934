"""Small whole networks as TF1 programs: one source for Penstock and both TensorFlows.

As in ``graph_cases.py``, each case is a function of the module that implements the API, in the
idioms of the networks' own first programs: what they fed is fed, what they drew in the graph is
drawn there.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

import numpy as np

from benchmarks import data, network_data
from benchmarks.graph_cases import Model, digit_loss
from benchmarks.program import Program


def _placed(tf: Any, columns: int) -> Tuple[Any, Any, Any]:
    """Placeholders of a sparse matrix's places and values, and the matrix."""
    places = tf.placeholder(tf.int64, [None, 2])
    values = tf.placeholder(tf.float32, [None])
    return places, values, tf.SparseTensor(places, values, [network_data.GCN_NODES, columns])


def gcn(tf: Any) -> Program:
    """Two graph convolutions with dropout, as a program of 2017 for citation networks."""
    parameters, batches = network_data.gcn()
    kept = network_data.GCN_KEPT
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        w0, w1 = model.variables["w0"], model.variables["w1"]
        places, values, features = _placed(tf, network_data.GCN_WORDS)
        links, scales, adjacency = _placed(tf, network_data.GCN_NODES)
        labels = tf.placeholder(tf.float32, [None, network_data.GCN_CLASSES])
        mask = tf.placeholder(tf.float32, [None])
        drawn = tf.floor(kept + tf.random_uniform(tf.shape(values)))
        features = tf.sparse_retain(features, tf.cast(drawn, tf.bool)) * (1.0 / kept)
        hidden = tf.sparse_tensor_dense_matmul(features, w0)
        hidden = tf.nn.relu(tf.sparse_tensor_dense_matmul(adjacency, hidden))
        hidden = tf.matmul(tf.nn.dropout(hidden, rate=1.0 - kept), w1)
        logits = tf.sparse_tensor_dense_matmul(adjacency, hidden)
        entropies = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
        loss = tf.reduce_mean(entropies * mask) + network_data.GCN_DECAY * tf.nn.l2_loss(w0)
        train = tf.train.AdamOptimizer(network_data.GCN_RATE).minimize(loss)
        feeds = [places, values, links, scales, labels, mask]
        return model.program([loss, train], feeds, batches)


def vae(tf: Any) -> Program:
    parameters, batches = network_data.vae()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        x = tf.placeholder(tf.float32, [None, 784])

        def layer(inputs: Any, name: str, index: int) -> Any:
            w, b = (v["%s_%s%d" % (name, kind, index)] for kind in "wb")
            return tf.add(tf.matmul(inputs, w), b)

        hidden = tf.nn.softplus(layer(x, "encode", 0))
        hidden = tf.nn.softplus(layer(hidden, "encode", 1))
        mean = tf.add(tf.matmul(hidden, v["mean_w"]), v["mean_b"])
        log_variance = tf.add(tf.matmul(hidden, v["spread_w"]), v["spread_b"])
        noise = tf.random_normal((network_data.VAE_BATCH, network_data.VAE_LATENT), 0, 1)
        sample = tf.add(mean, tf.multiply(tf.sqrt(tf.exp(log_variance)), noise))
        hidden = tf.nn.softplus(layer(sample, "decode", 0))
        hidden = tf.nn.softplus(layer(hidden, "decode", 1))
        seen = tf.nn.sigmoid(layer(hidden, "decode", 2))
        likelihood = x * tf.log(1e-10 + seen) + (1 - x) * tf.log(1e-10 + 1 - seen)
        divergence = -0.5 * tf.reduce_sum(
            1 + log_variance - tf.square(mean) - tf.exp(log_variance), 1
        )
        loss = tf.reduce_mean(divergence - tf.reduce_sum(likelihood, 1))
        train = tf.train.AdamOptimizer(network_data.VAE_RATE).minimize(loss)
        return model.program([loss, train], [x], batches)


def dropout(tf: Any) -> Program:
    parameters, batches = network_data.dropout()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        x = tf.placeholder(tf.float32, [None, 784])
        y = tf.placeholder(tf.float32, [None, 10])
        kept = tf.placeholder(tf.float32, [])
        hidden = tf.nn.dropout(x, rate=1.0 - kept)
        for index in range(2):
            hidden = tf.nn.relu(tf.matmul(hidden, v["w%d" % index]) + v["b%d" % index])
            hidden = tf.nn.dropout(hidden, rate=1.0 - kept)
        loss = digit_loss(tf, y, tf.matmul(hidden, v["w2"]) + v["b2"])
        train = tf.train.AdamOptimizer(network_data.DROPOUT_RATE).minimize(loss)
        fed = np.float32(network_data.DROPOUT_KEPT)
        return model.program([loss, train], [x, y, kept], [(*batch, fed) for batch in batches])


def gan(tf: Any) -> Program:
    """A step is one of the discriminator, then one of the generator."""
    parameters, batches = network_data.gan()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        images = tf.placeholder(tf.float32, [None, 784])
        noise = tf.placeholder(tf.float32, [None, network_data.GAN_NOISE])

        def judged(x: Any) -> Any:
            return tf.matmul(tf.nn.relu(tf.matmul(x, v["d_w0"]) + v["d_b0"]), v["d_w1"]) + v["d_b1"]

        hidden = tf.nn.relu(tf.matmul(noise, v["g_w0"]) + v["g_b0"])
        made = tf.nn.sigmoid(tf.matmul(hidden, v["g_w1"]) + v["g_b1"])
        real, fake = judged(images), judged(made)

        def entropy(logits: Any, wanted: Callable[[Any], Any]) -> Any:
            return tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=wanted(logits))
            )

        d_loss = entropy(real, tf.ones_like) + entropy(fake, tf.zeros_like)
        g_loss = entropy(fake, tf.ones_like)

        def solver(loss: Any, prefix: str) -> Any:
            trained = [variable for name, variable in v.items() if name.startswith(prefix)]
            optimizer = tf.train.AdamOptimizer(network_data.GAN_RATE)
            return optimizer.minimize(loss, var_list=trained)

        d_train, g_train = solver(d_loss, "d_"), solver(g_loss, "g_")
        session = model.session()
    cycle = data.Cycle(batches)

    def step() -> float:
        seen, first, second = cycle()
        _, d_value = session.run([d_train, d_loss], {images: seen, noise: first})
        _, g_value = session.run([g_train, g_loss], {noise: second})
        return float(d_value + g_value)

    return Program(step, session.close)


def _action_values(tf: Any, v: Dict[str, Any], frames: Any, prefix: str) -> Any:
    hidden = tf.cast(frames, tf.float32) / 255.0
    for name, _, _, stride in network_data.DQN_CONVOLUTIONS:
        w, b = v[prefix + name + "_w"], v[prefix + name + "_b"]
        hidden = tf.nn.conv2d(hidden, w, strides=[1, stride, stride, 1], padding="VALID")
        hidden = tf.nn.relu(tf.nn.bias_add(hidden, b))
    hidden = tf.reshape(hidden, [-1, int(np.prod(network_data.DQN_FEATURES))])
    hidden = tf.nn.relu(tf.matmul(hidden, v[prefix + "dense_w"]) + v[prefix + "dense_b"])
    return tf.matmul(hidden, v[prefix + "out_w"]) + v[prefix + "out_b"]


def dqn(tf: Any) -> Program:
    parameters, batches = network_data.dqn()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        frames, later = (tf.placeholder(tf.uint8, [None, 84, 84, 4]) for _ in range(2))
        actions = tf.placeholder(tf.int32, [None])
        rewards, goes_on = (tf.placeholder(tf.float32, [None]) for _ in range(2))
        best = tf.reduce_max(_action_values(tf, v, later, "target_"), 1)
        wanted = tf.stop_gradient(rewards + network_data.DQN_DISCOUNT * goes_on * best)
        values = _action_values(tf, v, frames, "")
        taken = tf.reduce_sum(values * tf.one_hot(actions, network_data.DQN_ACTIONS), 1)
        error = tf.abs(wanted - taken)
        huber = tf.where(error < 1.0, 0.5 * tf.square(error), error - 0.5)
        loss = tf.reduce_mean(huber)
        trained = [variable for name, variable in v.items() if not name.startswith("target_")]
        optimizer = tf.train.AdamOptimizer(network_data.DQN_RATE)
        train = optimizer.minimize(loss, var_list=trained)
        return model.program([loss, train], [frames, actions, rewards, goes_on, later], batches)


def wide_deep(tf: Any) -> Program:
    """The wide part is trained by FTRL, the deep part by Adagrad."""
    parameters, batches = network_data.wide_deep()
    size = network_data.WIDE_BATCH
    rows = np.repeat(np.arange(size), network_data.WIDE_IDS)
    columns = np.tile(np.arange(network_data.WIDE_IDS), size)
    places = np.stack([rows, columns], 1).astype(np.int64)
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        fed_places = tf.placeholder(tf.int64, [None, 2])
        wide_ids = tf.placeholder(tf.int32, [None])
        deep_ids = tf.placeholder(tf.int32, [None, network_data.DEEP_IDS])
        numbers = tf.placeholder(tf.float32, [None, network_data.DEEP_NUMBERS])
        labels = tf.placeholder(tf.float32, [None, 1])
        crossed = tf.SparseTensor(fed_places, wide_ids, [size, network_data.WIDE_IDS])
        wide = tf.nn.embedding_lookup_sparse(v["wide"], crossed, None, combiner="sum")
        embedded = tf.nn.embedding_lookup(v["table"], deep_ids)
        width = network_data.DEEP_IDS * network_data.DEEP_UNITS
        hidden = tf.concat([tf.reshape(embedded, [-1, width]), numbers], 1)
        for index in range(len(network_data.DEEP_LAYERS)):
            hidden = tf.matmul(hidden, v["w%d" % index]) + v["b%d" % index]
            if index + 1 < len(network_data.DEEP_LAYERS):
                hidden = tf.nn.relu(hidden)
        logits = hidden + wide + v["wide_b"]
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
        linear = [v["wide"], v["wide_b"]]
        deep = [variable for name, variable in v.items() if not name.startswith("wide")]
        ftrl = tf.train.FtrlOptimizer(network_data.WIDE_RATE)
        adagrad = tf.train.AdagradOptimizer(network_data.DEEP_RATE)
        train = tf.group(
            ftrl.minimize(loss, var_list=linear), adagrad.minimize(loss, var_list=deep)
        )
        feeds = [fed_places, wide_ids, deep_ids, numbers, labels]
        flat: List[Any] = [(places, batch[0].ravel(), *batch[1:]) for batch in batches]
        return model.program([loss, train], feeds, flat)


CASES: Dict[str, Callable[[Any], Program]] = {
    case.__name__: case for case in (gcn, vae, dropout, gan, dqn, wide_deep)
}
