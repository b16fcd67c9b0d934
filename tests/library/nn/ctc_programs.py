"""CTC of dense labels and losses over replicas, in Penstock and in TensorFlow; 3.7 runs this too.

As a script: ``python ctc_programs.py FILE`` writes what TensorFlow says, as JSON.
"""

import json
import sys

import numpy as np

RNG = np.random.RandomState(3)
TIME, BATCH, CLASSES, LABELS = 9, 4, 6, 3
LOGITS = (2 * RNG.randn(TIME, BATCH, CLASSES)).astype("float32")
TARGETS = np.array([[1, 2, 3], [4, 4, 0], [5, 0, 0], [2, 3, 2]], "int32")
TARGET_LENGTHS = np.array([3, 2, 1, 3], "int32")
FRAMES = np.array([9, 6, 9, 5], "int32")


def ctc(tf, found):
    def loss(name, labels=TARGETS, lengths=TARGET_LENGTHS, frames=FRAMES, **more):
        with tf.Graph().as_default(), tf.Session() as session:
            logits = tf.placeholder("float32", LOGITS.shape)
            given = tf.placeholder("int32", labels.shape)
            value = LOGITS
            if not more.get("logits_time_major", True):
                value = LOGITS.transpose(1, 0, 2)
                logits = tf.placeholder("float32", value.shape)
            if more.pop("unique", False):
                more["unique"] = tf.nn.ctc_unique_labels(given)
            made = tf.nn.ctc_loss_v2(given, logits, lengths, frames, **more)
            weights = tf.constant([1.0, 2.0, 3.0, 4.0])
            gradient = tf.gradients(made * weights, logits)[0]
            both = session.run([made, gradient], {logits: value, given: labels})
            # TensorFlow 1.15 gives frames after the last one a gradient; later versions do not.
            inside = np.arange(TIME)[:, None] < frames
            both[1][~(inside if more.get("logits_time_major", True) else inside.T)] = 0
            # What it gives for labels that fit no alignment is not the slope of its loss.
            found[name] = [one.tolist() for one in both[: 1 if name == "impossible" else 2]]

    loss("plain")
    loss("batch_major", logits_time_major=False)
    loss("unique", unique=True)
    loss("empty_label", lengths=np.array([3, 0, 1, 2], "int32"))
    for blank in (2, -1):
        labels = np.where(TARGETS == blank % CLASSES, 1, TARGETS)
        loss(f"blank_{blank}", labels=labels, blank_index=blank)
    # Five labels in three frames: none of them fits.
    loss("impossible", frames=np.array([2, 2, 9, 2], "int32"))
    with tf.Graph().as_default(), tf.Session() as session:
        indices = [[i, j] for i in range(BATCH) for j in range(TARGET_LENGTHS[i])]
        values = [int(TARGETS[i, j]) for i, j in indices]
        for blank in (0, -1, 3):
            moved = [1 if v == blank % CLASSES else v for v in values]
            sparse = tf.SparseTensor(indices, tf.constant(moved, tf.int32), [BATCH, LABELS])
            logits = tf.constant(LOGITS)
            made = tf.nn.ctc_loss_v2(sparse, logits, None, FRAMES, blank_index=blank)
            both = session.run([made, tf.gradients(made, logits)[0]])
            found[f"sparse_{blank}"] = [one.tolist() for one in both]


def parts(tf, found):
    labels = np.array([[1, 1, 2, 2, 1], [0, 1, 1, 1, 0], [0, 0, 0, 0, 0]], "int64")
    for known in (True, False):
        with tf.Graph().as_default(), tf.Session() as session:
            given = tf.placeholder("int64", labels.shape if known else [None, None])
            collapsed = tf.nn.collapse_repeated(given, np.array([4, 5, 5], "int32"))
            unique = tf.nn.ctc_unique_labels(given)
            values = session.run([collapsed, unique], {given: labels})
            found[f"parts_{known}"] = [one.tolist() for pair in values for one in pair]


def averages(tf, found):
    losses = np.array([[1.0, 2.0], [3.0, 5.0], [0.5, 0.0]], "float32")

    def average(name, build):
        for known in (True, False):
            with tf.Graph().as_default() as graph, tf.Session() as session:
                x = tf.placeholder("float32", losses.shape if known else None)
                made = build(x)
                nodes = [
                    [o.name, o.type, [i.name for i in o.inputs]] for o in graph.get_operations()
                ]
                value = float(session.run(made, {x: losses}))
                found[f"{name}_{known}"] = [value, sorted(nodes)]

    f = tf.nn.compute_average_loss
    average("average", f)
    average("average_of", lambda x: f(x, global_batch_size=7))
    average("average_weights", lambda x: f(x, np.array([[1.0], [2.0], [0.0]], "float32")))
    average("regularization", tf.nn.scale_regularization_loss)


def results(tf):
    """What every program gives."""
    found = {}
    ctc(tf, found)
    parts(tf, found)
    averages(tf, found)
    return found


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.logging.set_verbosity(tensorflow.compat.v1.logging.ERROR)
    with open(sys.argv[1], "w") as file:
        json.dump(results(tensorflow), file)
