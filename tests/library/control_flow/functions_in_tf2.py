"""tf.function and Keras programs as GraphDefs, run by TensorFlow 2.21; a process of its own.

Run as ``python functions_in_tf2.py OUT.pickle``.  OUT gets two dictionaries by name: frozen graphs
with what is fed, fetched and the values, and graphs of functional control flow with the values of
ys and of the gradients that TensorFlow makes.
"""

from __future__ import annotations

import os
import pickle
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import (
    convert_variables_to_constants_v2 as freeze,
)

v1 = tf.compat.v1
keras = tf.keras
raw = tf.raw_ops
FROZEN = {}
GRADIENTS = {}


# ---- tf.function, frozen -------------------------------------------------------------------------


def add(name, function, *arguments):
    specs = [
        tf.TensorSpec([None, *np.shape(a)[1:]] if np.ndim(a) else [], np.asarray(a).dtype)
        for a in arguments
    ]
    made = freeze(function.get_concrete_function(*specs), lower_control_flow=False)
    values = [np.asarray(v) for v in tf.nest.flatten(made(*map(tf.constant, arguments)))]
    names = [t.name for t in made.inputs], [t.name for t in made.outputs]
    FROZEN[name] = (made.graph.as_graph_def().SerializeToString(), *names, arguments, values)


def models():
    tf.random.set_seed(1)
    layers = keras.layers
    x = np.random.RandomState(0).randn(3, 7, 5).astype("f")
    frames = np.random.RandomState(1).randn(2, 4, 6, 3).astype("f")
    for name, layer, given in (
        ("lstm", layers.LSTM(4, return_sequences=True), x),
        ("gru", layers.GRU(4), x),
        ("rnn", layers.SimpleRNN(4, go_backwards=True), x),
        ("bidirectional", layers.Bidirectional(layers.LSTM(3, return_sequences=True)), x),
        ("masked", keras.Sequential([layers.Masking(), layers.LSTM(3)]), x),
        ("conv_lstm", layers.ConvLSTM1D(2, 3), frames),
    ):
        model = keras.Sequential([layer])
        model.build(given.shape)
        add(name, tf.function(lambda a, model=model: model(a)), given)
    model = keras.Sequential([layers.LSTM(4, return_sequences=True), layers.Dense(2)])
    model.build(x.shape)

    @tf.function
    def train(a):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(a) ** 2)
        return [loss, *tape.gradient(loss, model.trainable_variables)]

    add("lstm_gradients", train, x)


def functions():
    @tf.function
    def collatz(n):
        k = tf.constant(0)
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            k += 1
        return k

    @tf.function
    def with_break(n):
        ta = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(n):
            if i % 3 == 0:
                continue
            ta = ta.write(ta.size(), tf.cast(i, tf.float32) * 2.0)
            if i > 8:
                break
        return ta.stack()

    @tf.function
    def arrays(x):
        ta = tf.TensorArray(tf.float32, 4).scatter([3, 1, 0, 2], x)
        parts = tf.TensorArray(tf.float32, 2, infer_shape=False)
        parts = parts.split(tf.reshape(x, [-1]), [3, 5])
        return ta.gather([0, 3]), ta.concat(), parts.read(1), ta.size(), parts.concat()

    @tf.function
    def mapped(x):
        return tf.map_fn(lambda r: tf.reduce_sum(r) * r, x), tf.scan(lambda a, b: a + b, x)

    @tf.function
    def ragged(x):
        kind = {"element_dtype": tf.float32}
        made = raw.EmptyTensorList(element_shape=[-1], max_num_elements=-1, **kind)
        for i in tf.range(3):
            made = raw.TensorListPushBack(input_handle=made, tensor=x[: i + 1])
        made, last = raw.TensorListPopBack(input_handle=made, element_shape=[-1], **kind)
        both = raw.TensorListConcatLists(input_a=made, input_b=made, **kind)
        none = tf.constant([], tf.int64)
        joined, lengths = raw.TensorListConcatV2(
            input_handle=both, element_shape=[-1], leading_dims=none, **kind
        )
        one = raw.TensorListResize(input_handle=made, size=1)
        return (
            last,
            joined,
            lengths,
            raw.TensorListLength(input_handle=both),
            raw.TensorListElementShape(input_handle=both, shape_type=tf.int32),
            raw.TensorListGetItem(input_handle=one, index=0, element_shape=[-1], **kind),
        )

    @tf.function
    def inner(x):
        return tf.nn.relu(x) - 1.0

    @tf.function
    def nested(x):
        y = inner(x)
        if tf.reduce_sum(y) > 0:
            y = inner(y) * 2.0
        return inner(y)

    @tf.function
    def tape(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            s, ta = tf.zeros([3]), tf.TensorArray(tf.float32, 4)
            for i in tf.range(4):
                s = tf.tanh(s * x + 1.0) if i % 2 == 0 else s + x
                ta = ta.write(i, s)
            y = tf.reduce_sum(ta.stack())
        return y, tape.gradient(y, x)

    table = np.arange(8, dtype="f").reshape(4, 2)
    row = np.arange(3, dtype="f")
    add("collatz", collatz, np.int32(27))
    add("with_break", with_break, np.int32(20))
    add("arrays", arrays, table)
    add("mapped", mapped, table)
    add("ragged", ragged, np.arange(6, dtype="f"))
    add("nested", nested, row)
    add("tape", tape, row / 3)


# ---- gradients through functional nodes ----------------------------------------------------------


def place(name, shape=(), dtype=tf.float32):
    return v1.placeholder(dtype, shape, name=name)


def of_if():
    x = place("x", [2])
    y = v1.cond(place("p", (), tf.bool), lambda: tf.sin(x) * x, lambda: x * 3.0)
    return [y], [x], [{"x": [1.0, 2.0], "p": p} for p in (True, False)]


def of_while():
    x, n = place("x", [2]), place("n", (), tf.int32)
    y = v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.tanh(a * x) + a), [0, x])[1]
    return [y], [x], [{"x": [0.3, 0.2], "n": n} for n in (3, 0)]


def of_if_in_while():
    x, n = place("x"), place("n", (), tf.int32)

    def body(i, a):
        return i + 1, v1.cond(tf.equal(i % 2, 0), lambda: a * x, lambda: tf.sin(a) + x)

    y = v1.while_loop(lambda i, a: i < n, body, [0, x])[1]
    return [y * y], [x], [{"x": 0.7, "n": 5}]


def of_while_in_while():
    x, n = place("x"), place("n", (), tf.int32)

    def body(i, a):
        inner = v1.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * x + 1.0), [0, a])
        return i + 1, inner[1]

    y = v1.while_loop(lambda i, a: i < n, body, [0, x])[1]
    return [y], [x], [{"x": 0.7, "n": 4}]


def of_arrays():
    x = place("x", [4, 3])
    rows = tf.TensorArray(tf.float32, 4).unstack(x)
    out = tf.TensorArray(tf.float32, 4, element_shape=[3])
    _, h, out = v1.while_loop(
        lambda i, h, out: i < 4,
        lambda i, h, out: (i + 1, tf.tanh(h + rows.read(i)), out.write(i, h * h)),
        [0, tf.zeros([3]), out],
    )
    return [out.stack(), h], [x], [{"x": np.arange(12.0).reshape(4, 3) / 9}]


def of_case():
    x = place("x")
    branches = [lambda: x * x, lambda: tf.exp(x), lambda: x * 5.0]
    y = tf.switch_case(place("i", (), tf.int32), branches)
    return [y], [x], [{"x": 0.5, "i": i} for i in (0, 1, 2, 7)]


def of_a_list():
    x = place("x", [2])
    made = raw.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32)
    made = v1.while_loop(
        lambda i, a, made: i < 3,
        lambda i, a, made: (i + 1, a * x, raw.TensorListPushBack(input_handle=made, tensor=a)),
        [0, x, made],
    )[2]
    y = raw.TensorListStack(input_handle=made, element_shape=[2], element_dtype=tf.float32)
    return [y], [x], [{"x": [0.5, 2.0]}]


def of_list_ops():
    x = place("x", [4, 2])
    kind = {"element_dtype": tf.float32}
    shape = tf.constant([2])
    made = raw.TensorListFromTensor(tensor=x, element_shape=shape)
    item = raw.TensorListGetItem(input_handle=made, index=2, element_shape=[2], **kind)
    made = raw.TensorListSetItem(input_handle=made, index=0, item=item * item)
    rows = raw.TensorListGather(input_handle=made, indices=[3, 0], element_shape=[2], **kind)
    spread = raw.TensorListScatterV2(
        tensor=rows * rows, indices=[2, 0], element_shape=shape, num_elements=3
    )
    spread = raw.TensorListScatterIntoExistingList(input_handle=spread, tensor=x[:1], indices=[1])
    spread = raw.TensorListResize(input_handle=spread, size=2)
    stacked = raw.TensorListStack(input_handle=spread, element_shape=[2], **kind)
    lengths = tf.constant([1, 3], tf.int64)
    split = raw.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=lengths)
    split, last = raw.TensorListPopBack(input_handle=split, element_shape=[-1, 2], **kind)
    joined = raw.TensorListConcatV2(
        input_handle=split, element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64), **kind
    )[0]
    ys = [stacked * stacked, last * last * last, joined]
    return ys, [x], [{"x": np.arange(8.0).reshape(4, 2) / 5}]


def gradients():
    v1.disable_v2_behavior()
    v1.enable_control_flow_v2()
    for program in (
        of_if,
        of_while,
        of_if_in_while,
        of_while_in_while,
        of_arrays,
        of_case,
        of_a_list,
        of_list_ops,
    ):
        with tf.Graph().as_default() as graph, v1.Session() as sess:
            ys, xs, feeds = program()
            message = graph.as_graph_def().SerializeToString()
            found = list(ys) + v1.gradients(ys, xs)
            values = [
                sess.run(found, {key + ":0": value for key, value in feed.items()})
                for feed in feeds
            ]
            names = [t.name for t in ys], [t.name for t in xs]
            GRADIENTS[program.__name__] = (message, *names, feeds, values)


if __name__ == "__main__":
    models()
    functions()
    gradients()
    with open(sys.argv[1], "wb") as file:
        pickle.dump((FROZEN, GRADIENTS), file)
