"""What is seen of a network: its graph, its outputs, three steps of training and its checkpoint.

A network is a function of the package (``tf``) that returns a ``Network``: what is fed, a tensor of
outputs and a loss.  Works under Python 3.7 too, where TensorFlow 1.15 runs it.
"""

import collections
import hashlib
import json
import zlib

import numpy as np

from tests.library.layers import programs

# Small: deep networks go astray from what they start with here, and then roundings grow.
RATE = 0.001
# VGG has nothing that normalizes: after a step of that rate its loss is nine times as large, and
# moves by 4e-4 of itself with the last bits of the weights; at this one it falls.
CALM_RATE = 5e-6
STEPS = 3

Network = collections.namedtuple("Network", "feed outputs loss")


def numbers(shape, seed=0):
    """Numbers between -1 and 1 to feed."""
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def classes(count, rows, seed=1):
    """A class below ``count`` for each row."""
    return np.random.RandomState(seed).randint(0, count, rows)


def classified(tf, feed, logits, labels):
    """A network whose loss is the cross entropy of its logits, with regularization."""
    loss = tf.losses.sparse_softmax_cross_entropy(tf.constant(labels, tf.int32), logits)
    return Network(feed, tf.nn.softmax(logits), loss + tf.losses.get_regularization_loss())


# ---- one network ---------------------------------------------------------------------------------


def observed(tf, function, path):
    """Builds, trains and saves a network from values that follow from its variables' names.

    Args:
      tf: the package.
      function: the network's.
      path: prefix of the checkpoint that is written, of the values before training.

    Returns:
      Graph, variables, collections, outputs and losses as plain values.
    """
    with tf.Graph().as_default() as graph, tf.Session() as session:
        network = function(tf)
        step = _step(tf, network)
        _start(tf, session)
        tf.train.Saver(tf.global_variables()).save(session, path, write_meta_graph=False)
        outputs = session.run(network.outputs, network.feed)
        losses = []
        for _ in range(STEPS):  # apart: in one run TensorFlow may read what the step has changed
            losses.append(session.run(network.loss, network.feed))
            session.run(step, network.feed)
        return {
            "nodes": _nodes(tf, graph, [network.outputs.op, network.loss.op, step]),
            "variables": [[v.op.name, v.shape.as_list()] for v in tf.global_variables()],
            "trainable": [v.op.name for v in tf.trainable_variables()],
            "collections": {k: v for k, v in programs._collections(graph).items() if v},
            "outputs": outputs.tolist(),
            "losses": [float(loss) for loss in losses],
        }


def restored(tf, function, path):
    """The outputs of a network with the values of a checkpoint, of another package perhaps."""
    with tf.Graph().as_default(), tf.Session() as session:
        network = function(tf)
        session.run(tf.local_variables_initializer())
        session.run(tf.tables_initializer())
        tf.train.Saver(tf.global_variables()).restore(session, path)
        return session.run(network.outputs, network.feed).tolist()


def _step(tf, network):
    """One step of training, after what the layers ask to be updated."""
    first = tf.trainable_variables()[0].op.name
    rate = CALM_RATE if first.startswith("vgg_") else RATE
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        return tf.train.GradientDescentOptimizer(rate).minimize(network.loss)


def _start(tf, session):
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    session.run(tf.tables_initializer())
    for variable in tf.global_variables():
        if variable.dtype.base_dtype.is_floating:
            variable.load(_value(variable.op.name, variable.shape.as_list()), session)


def _value(name, shape):
    """The value that a variable of this name starts with: spread as such a variable's are."""
    drawn = np.random.RandomState(zlib.crc32(name.encode())).normal(size=shape)
    last = name.rpartition("/")[2]
    if "variance" in last or last == "gamma":
        found = 1 + 0.1 * np.abs(drawn)
    elif len(shape) < 2:
        found = 0.05 * drawn
    else:
        # What is added to what a block is given grows from block to block: less is added there.
        wide = 0.5 if name.startswith("resnet") else 2.0
        found = drawn * np.sqrt(wide / np.prod(shape[:-1]))
    return np.asarray(found, "float32").reshape(shape)


def _nodes(tf, graph, wanted):
    """Names, types, inputs and a digest of the attrs of what is wanted and starts variables."""
    needed, waiting = set(), wanted + [v.initializer for v in tf.global_variables()]
    while waiting:
        op = waiting.pop()
        if op.name not in needed:
            needed.add(op.name)
            waiting += [t.op for t in op.inputs] + list(op.control_inputs)
    nodes = [n for n in graph.as_graph_def(add_shapes=False).node if n.name in needed]
    return [[n.name, n.op, list(n.input), n.device, _digest(tf, n)] for n in nodes]


def _digest(tf, node):
    text = json.dumps(programs._attrs(tf, node), sort_keys=True)
    return hashlib.sha1(text.encode()).hexdigest()[:10]
