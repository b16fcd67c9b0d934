"""Deep networks as TF1 programs: residual networks, a transformer's encoder, attention.

As in ``graph_cases.py``, each case is a function of the module that implements the API.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

from benchmarks import network_data
from benchmarks.graph_cases import Model
from benchmarks.program import Program


def _convolved(tf: Any, x: Any, w: Any, size: int, stride: int) -> Any:
    """A convolution whose padding does not depend on the size of the image."""
    if stride == 1:
        return tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME")
    if size > 1:
        margin = [size // 2, (size - 1) // 2]
        x = tf.pad(x, [[0, 0], margin, margin, [0, 0]])
    return tf.nn.conv2d(x, w, strides=[1, stride, stride, 1], padding="VALID")


def resnet50(tf: Any) -> Program:
    """The logits."""
    parameters, batches = network_data.resnet50()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables

        def normed(x: Any, name: str, size: int, stride: int) -> Any:
            x = _convolved(tf, x, v[name + "_w"], size, stride)
            scale, offset, mean, var = (
                v["%s_%s" % (name, each)] for each in ("scale", "offset", "mean", "var")
            )
            return tf.nn.fused_batch_norm(
                x, scale, offset, mean, var, network_data.NORM_EPSILON, is_training=False
            )[0]

        images = tf.placeholder(tf.float32, [None, 224, 224, 3])
        x = tf.nn.relu(normed(images, "stem", 7, 2))
        x = tf.nn.max_pool(x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME")
        for name, _, _, stride, projected in network_data.resnet50_blocks():
            shortcut = normed(x, name + "_p", 1, stride) if projected else x
            x = tf.nn.relu(normed(x, name + "_a", 1, 1))
            x = tf.nn.relu(normed(x, name + "_b", 3, stride))
            x = tf.nn.relu(normed(x, name + "_c", 1, 1) + shortcut)
        logits = tf.matmul(tf.reduce_mean(x, [1, 2]), v["out_w"]) + v["out_b"]
        return model.program(logits, [images], batches)


def resnet20(tf: Any) -> Program:
    """Momentum, weight decay, moving averages of the batch statistics."""
    parameters, batches = network_data.resnet20()
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        moving: List[Any] = []

        def normed(x: Any, name: str, stride: int) -> Any:
            x = _convolved(tf, x, v[name + "_w"], 3, stride)
            y, mean, var = tf.nn.fused_batch_norm(
                x, v[name + "_scale"], v[name + "_offset"], epsilon=network_data.NORM_EPSILON
            )
            for kind, seen in (("_mean", mean), ("_var", var)):
                old = v[name + kind]
                moving.append(tf.assign_sub(old, (old - seen) * (1.0 - network_data.NORM_KEPT)))
            return y

        images = tf.placeholder(tf.float32, [None, 32, 32, 3])
        labels = tf.placeholder(tf.int32, [None])
        x = tf.nn.relu(normed(images, "stem", 1))
        for name, channels, filters, stride in network_data.resnet20_blocks():
            shortcut = x
            if stride > 1:  # every second pixel, and channels of zeros: no parameters
                more = (filters - channels) // 2
                shortcut = tf.pad(x[:, ::2, ::2], [[0, 0], [0, 0], [0, 0], [more, more]])
            x = tf.nn.relu(normed(x, name + "_a", stride))
            x = tf.nn.relu(normed(x, name + "_b", 1) + shortcut)
        logits = tf.matmul(tf.reduce_mean(x, [1, 2]), v["out_w"]) + v["out_b"]
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
        trained = [each for name, each in v.items() if not name.endswith(("_mean", "_var"))]
        decay = tf.add_n([tf.nn.l2_loss(each) for each in trained])
        optimizer = tf.train.MomentumOptimizer(
            network_data.RESNET20_RATE, network_data.RESNET20_MOMENTUM
        )
        with tf.control_dependencies(moving):
            total = loss + network_data.RESNET20_DECAY * decay
            train = optimizer.minimize(total, var_list=trained)
        return model.program([loss, train], [images, labels], batches)


def _layer_normed(tf: Any, v: Dict[str, Any], x: Any, name: str) -> Any:
    mean, var = tf.nn.moments(x, [-1], keepdims=True)
    scale, offset = v[name + "_scale"], v[name + "_offset"]
    return tf.nn.batch_normalization(x, mean, var, offset, scale, network_data.LAYER_EPSILON)


def _attended(tf: Any, x: Any, dense: Callable[[Any, str], Any], layer: int) -> Any:
    heads = network_data.ENCODER_HEADS
    shape = [-1, network_data.ENCODER_WORDS, heads, network_data.ENCODER_WIDTH // heads]
    q, k, v = (
        tf.transpose(tf.reshape(dense(x, "%s%d" % (name, layer)), shape), [0, 2, 1, 3])
        for name in "qkv"
    )
    scores = tf.matmul(q, k, transpose_b=True) * shape[-1] ** -0.5
    mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])
    return dense(tf.reshape(mixed, [-1, network_data.ENCODER_WIDTH]), "o%d" % layer)


def encoder(tf: Any) -> Program:
    parameters, batches = network_data.encoder()
    width = network_data.ENCODER_WIDTH
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        shape = [network_data.ENCODER_BATCH, network_data.ENCODER_WORDS]
        words, targets = (tf.placeholder(tf.int32, shape) for _ in range(2))

        def dense(x: Any, name: str) -> Any:
            return tf.matmul(x, v[name + "_w"]) + v[name + "_b"]

        x = tf.nn.embedding_lookup(v["words"], words) * width**0.5 + v["places"]
        x = tf.reshape(x, [-1, width])
        for layer in range(network_data.ENCODER_LAYERS):
            attended = _attended(tf, x, dense, layer)
            x = _layer_normed(tf, v, x + attended, "attended%d" % layer)
            inner = tf.nn.relu(dense(x, "inner%d" % layer))
            x = _layer_normed(tf, v, x + dense(inner, "outer%d" % layer), "passed%d" % layer)
        entropies = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.reshape(targets, [-1]), logits=dense(x, "out")
        )
        loss = tf.reduce_mean(entropies)
        train = tf.train.AdamOptimizer(network_data.ENCODER_RATE).minimize(loss)
        return model.program([loss, train], [words, targets], batches)


def _lstm(tf: Any, x: Any, cell: Any, hidden: Any, w: Any, b: Any) -> Tuple[Any, Any]:
    gates = tf.matmul(tf.concat([x, hidden], 1), w) + b
    i, j, f, o = tf.split(gates, 4, axis=1)
    cell = tf.sigmoid(f + 1.0) * cell + tf.sigmoid(i) * tf.tanh(j)
    return cell, tf.sigmoid(o) * tf.tanh(cell)


def _decoder(tf: Any, v: Dict[str, Any], encoded: Any) -> Callable[[Any, Any], Any]:
    """A function for ``tf.scan``: Luong's attention, fed back into the cell."""
    keys = tf.tensordot(encoded, v["memory_w"], [[2], [0]])

    def decode(state: Any, word: Any) -> Any:
        cell, hidden, attention = state
        inputs = tf.concat([word, attention], 1)
        cell, hidden = _lstm(tf, inputs, cell, hidden, v["decode_w"], v["decode_b"])
        scores = tf.reduce_sum(keys * tf.expand_dims(hidden, 1), 2)
        weights = tf.expand_dims(tf.nn.softmax(scores), 2)
        context = tf.reduce_sum(weights * encoded, 1)
        attention = tf.tanh(tf.matmul(tf.concat([hidden, context], 1), v["attend_w"]))
        return cell, hidden, attention

    return decode


def seq2seq(tf: Any) -> Program:
    """Encoder and decoder are loops in the graph (``tf.scan``)."""
    parameters, batches = network_data.seq2seq()
    units = network_data.SEQ2SEQ_UNITS
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        v = model.variables
        shape = [network_data.SEQ2SEQ_BATCH, network_data.SEQ2SEQ_WORDS]
        source, inputs, targets = (tf.placeholder(tf.int32, shape) for _ in range(3))
        zeros = tf.zeros([network_data.SEQ2SEQ_BATCH, units])

        def encode(state: Any, word: Any) -> Any:
            return _lstm(tf, word, state[0], state[1], v["encode_w"], v["encode_b"])

        sequence = tf.nn.embedding_lookup(v["source"], tf.transpose(source))
        cells, outputs = tf.scan(encode, sequence, (zeros, zeros))
        encoded = tf.transpose(outputs, [1, 0, 2])
        decode = _decoder(tf, v, encoded)
        sequence = tf.nn.embedding_lookup(v["target"], tf.transpose(inputs))
        _, _, attended = tf.scan(decode, sequence, (cells[-1], outputs[-1], zeros))
        logits = tf.matmul(tf.reshape(attended, [-1, units]), v["out_w"]) + v["out_b"]
        entropies = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.reshape(tf.transpose(targets), [-1]), logits=logits
        )
        loss = tf.reduce_sum(entropies) / float(network_data.SEQ2SEQ_BATCH)
        train = tf.train.AdamOptimizer(network_data.SEQ2SEQ_RATE).minimize(loss)
        return model.program([loss, train], [source, inputs, targets], batches)


CASES: Dict[str, Callable[[Any], Program]] = {
    case.__name__: case for case in (resnet50, resnet20, encoder, seq2seq)
}
