"""Programs of ``tf.contrib.crf`` (``recorded``)."""

import numpy as np

from tests.contrib.recorded import names, values

RNG = np.random.RandomState(5)
INPUTS = RNG.normal(size=[3, 5, 4]).astype("float32")
TRANSITIONS = RNG.normal(size=[4, 4]).astype("float32")
TAGS = RNG.randint(0, 4, size=[3, 5]).astype("int32")
LENGTHS = np.array([5, 3, 0], "int32")
ALLOWED = RNG.uniform(size=[3, 5, 4]) > 0.3


def _scores(tf, inputs, tags, allowed, by=2):
    crf = tf.contrib.crf
    x, t = tf.constant(inputs), tf.constant(TRANSITIONS)
    y, n = tf.constant(tags), tf.constant(LENGTHS)
    likelihood, _ = crf.crf_log_likelihood(x, y, n, t)
    made = [
        crf.crf_sequence_score(x, y, n, t), crf.crf_log_norm(x, n, t), likelihood,
        crf.crf_multitag_sequence_score(x, tf.constant(allowed), n, t),
        crf.crf_unary_score(y, n, x), crf.crf_binary_score(y, n, t),
    ]  # fmt: skip
    made += list(crf.crf_decode(x, t, n))
    return values(tf, made + tf.gradients(likelihood, [x, t][:by]))


def case_scores(tf):
    return _scores(tf, INPUTS, TAGS, ALLOWED)


def case_scores_of_one_step(tf):
    return _scores(tf, INPUTS[:, :1], TAGS[:, :1], ALLOWED[:, :1], 1)


def case_scores_of_long_tags(tf):
    return _scores(tf, INPUTS, TAGS.astype("int64"), ALLOWED)


def case_open_number_of_steps(tf):
    x = tf.placeholder(tf.float32, [None, None, 4])
    n = tf.constant(LENGTHS)
    made = list(tf.contrib.crf.crf_decode(x, tf.constant(TRANSITIONS), n))
    made.append(tf.contrib.crf.crf_log_norm(x, n, tf.constant(TRANSITIONS)))
    return [values(tf, made, {x: INPUTS}), values(tf, made, {x: INPUTS[:, :1]})]


def case_viterbi(tf):
    tags, score = tf.contrib.crf.viterbi_decode(INPUTS[0], TRANSITIONS)
    return [[int(t) for t in tags], float(score)]


def case_variables(tf):
    x = tf.constant(INPUTS)
    tf.contrib.crf.crf_log_likelihood(x, tf.constant(TAGS), tf.constant(LENGTHS))
    return names(tf.global_variables())


def case_cells(tf):
    crf = tf.contrib.crf
    t = tf.constant(TRANSITIONS)
    forward, best = crf.CrfForwardRnnCell(t), crf.CrfDecodeForwardRnnCell(t)
    back = crf.CrfDecodeBackwardRnnCell(4)
    x, state = tf.constant(INPUTS[:, 0]), tf.constant(INPUTS[:, 1])
    made = list(forward(x, state)) + list(best(x, state))
    made += list(back(tf.constant(TAGS[:, :4]), tf.constant([[0], [3], [2]])))
    return [forward.state_size, best.output_size, back.state_size, values(tf, made)]
