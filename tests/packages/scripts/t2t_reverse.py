"""A small transformer of tensor2tensor learns to reverse strings; it decodes by beam.

Prints the losses of the first steps, the gradients of the first, how many of the unseen strings the
beam reverses, and the median of a step's seconds.
"""

import json
import time
import zlib

import numpy as np
import tensorflow as tf
from tensor2tensor.data_generators import problem_hparams
from tensor2tensor.models import transformer

tf.logging.set_verbosity(tf.logging.ERROR)
# 0 pads, 1 ends a string; the others are letters.
LETTERS, LENGTH, BATCH = 10, 6, 64
STEPS, FIRST = 900, 8


def strings(random, count):
    """Strings of 3 to LENGTH letters, and the reverse of each."""
    forward = np.zeros([count, LENGTH + 1, 1, 1], np.int32)
    backward = np.zeros_like(forward)
    for row in range(count):
        letters = random.randint(2, 2 + LETTERS, random.randint(3, LENGTH + 1))
        forward[row, : len(letters), 0, 0] = letters
        backward[row, : len(letters), 0, 0] = letters[::-1]
        forward[row, len(letters)] = backward[row, len(letters)] = 1
    return forward, backward


def hyper_parameters():
    """Those of the tiny transformer, smaller, and without anything drawn at random."""
    made = transformer.transformer_tiny()
    made.hidden_size, made.filter_size, made.num_heads = 64, 128, 4
    made.num_hidden_layers = 2
    made.layer_prepostprocess_dropout = made.attention_dropout = made.relu_dropout = 0.0
    made.problem_hparams = problem_hparams.test_problem_hparams(LETTERS + 2, LETTERS + 2, made)
    return made


def model(mode):
    """The transformer in a mode."""
    made = hyper_parameters()
    return transformer.Transformer(made, mode, made.problem_hparams)


def set_values(session):
    """The same values in every TensorFlow: what the shape and the name give."""
    for variable in tf.global_variables():
        name = variable.op.name
        if "/body/" not in name and "symbol_modality" not in name:
            continue
        if name.endswith(("scale", "bias")) or "Adam" in name or "beta" in name:
            continue
        dims = variable.shape.as_list()
        random = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)
        scale = 1 / np.sqrt(dims[-1] if "modality" in name else dims[0])
        variable.load(random.randn(*dims).astype(np.float32) * scale, session)


def main():
    inputs = tf.placeholder(tf.int32, [None, LENGTH + 1, 1, 1], "inputs")
    targets = tf.placeholder(tf.int32, [None, LENGTH + 1, 1, 1], "targets")
    features = {
        "inputs": inputs, "targets": targets, "target_space_id": tf.constant(1, tf.int32)
    }  # fmt: skip
    with tf.variable_scope(""):
        logits, _ = model(tf.estimator.ModeKeys.TRAIN)(dict(features))
    labels = tf.reshape(targets, [-1])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=tf.reshape(logits, [-1, LETTERS + 2])
    )
    weights = tf.cast(tf.not_equal(labels, 0), tf.float32)
    loss = tf.reduce_sum(losses * weights) / tf.reduce_sum(weights)
    rate = tf.placeholder(tf.float32, [])
    optimizer = tf.train.AdamOptimizer(rate, beta1=0.9, beta2=0.98, epsilon=1e-9)
    pairs = optimizer.compute_gradients(loss)
    step = optimizer.apply_gradients(pairs)
    norms = [tf.norm(tf.convert_to_tensor(g)) for g, _ in pairs]
    with tf.variable_scope("", reuse=True):
        decoded = model(tf.estimator.ModeKeys.PREDICT)._beam_decode(
            dict(features), decode_length=1, beam_size=4, top_beams=1, alpha=0.6
        )
    random = np.random.RandomState(1)
    answer = {"losses": []}
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        set_values(session)
        answer["variables"] = {v.op.name: v.shape.as_list() for v in tf.trainable_variables()}
        seconds = []
        for number in range(STEPS):
            forward, backward = strings(random, BATCH)
            fed = {inputs: forward, targets: backward, rate: 2e-3 * min(1, number / 100 + 0.01)}
            if number == 0:
                found = session.run(norms, fed)
                answer["gradients"] = {v.op.name: float(n) for (_, v), n in zip(pairs, found)}
            begun = time.perf_counter()
            value, _ = session.run([loss, step], fed)
            seconds.append(time.perf_counter() - begun)
            if number < FIRST:
                answer["losses"].append(float(value))
        answer["last"] = float(value)
        answer["seconds"] = float(np.median(seconds[20:]))
        forward, backward = strings(random, 50)
        found = session.run(decoded, {inputs: forward, targets: backward})
        outputs = found["outputs"].reshape([50, -1])
        answer["first_decoded"] = outputs[0].tolist()[:3]
        answer["scores"] = sorted(set(np.shape(found["scores"])))
        answer["reversed"] = sum(
            until_the_end(o) == until_the_end(b[:, 0, 0]) for o, b in zip(outputs, backward)
        )
    print(json.dumps(answer))


def until_the_end(letters):
    """The letters before the end, as a list."""
    letters = [int(letter) for letter in letters]
    return letters[: letters.index(1)] if 1 in letters else letters


main()
