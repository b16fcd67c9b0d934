"""Sixty mistakes of beginners, as functions of ``tf``: what each says is compared in a table.

The same file runs under TensorFlow 1.15 (``python beginners.py`` prints ``{name: [class, text]}``
as JSON) and under Penstock.  A function that returns says nothing: what it returns then stands in
the table as class ``value``.
"""

import json
import sys

import numpy as np

MISTAKES = []


def mistake(function):
    """Adds a row to the table; its name is the function's."""
    MISTAKES.append(function)
    return function


def _net(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(tf.zeros([3, 2]), name="w")
    return x, w, tf.matmul(x, w, name="y")


# ---- building ----------------------------------------------------------------------------------


@mistake
def matmul_of_the_wrong_way_round(tf):
    tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]))


@mistake
def matmul_of_a_vector(tf):
    tf.matmul(tf.zeros([3]), tf.zeros([3, 2]))


@mistake
def whole_number_and_float(tf):
    tf.constant(1) + tf.constant(1.0)


@mistake
def float_variable_and_int_constant(tf):
    tf.Variable(1.0) * tf.constant(2)


@mistake
def shapes_that_do_not_broadcast(tf):
    tf.zeros([2, 3]) + tf.zeros([2, 4])


@mistake
def axes_for_axis(tf):
    tf.reduce_mean(tf.zeros([2]), axes=0)


@mistake
def axis_out_of_range(tf):
    tf.reduce_sum(tf.zeros([2, 3]), axis=2)


@mistake
def concat_of_different_ranks(tf):
    tf.concat([tf.zeros([2, 3]), tf.zeros([3])], 0)


@mistake
def concat_old_order(tf):
    tf.concat(1, [tf.zeros([2, 3]), tf.zeros([2, 3])])


@mistake
def reshape_that_does_not_fit(tf):
    tf.reshape(tf.zeros([2, 3]), [4, 2])


@mistake
def two_open_sizes_in_a_reshape(tf):
    tf.reshape(tf.zeros([2, 3]), [-1, -1])


@mistake
def open_size_in_a_variable(tf):
    tf.get_variable("v", [None, 3])


@mistake
def variable_without_a_shape(tf):
    tf.get_variable("v")


@mistake
def variable_twice(tf):
    tf.get_variable("v", [1])
    tf.get_variable("v", [1])


@mistake
def reuse_of_nothing(tf):
    with tf.variable_scope("s", reuse=True):
        tf.get_variable("v", [1])


@mistake
def reuse_with_another_shape(tf):
    tf.get_variable("v", [1])
    with tf.variable_scope("", reuse=True):
        tf.get_variable("v", [2])


@mistake
def layer_twice_without_reuse(tf):
    tf.layers.dense(tf.zeros([2, 3]), 2, name="d")
    tf.layers.dense(tf.zeros([2, 3]), 2, name="d")


@mistake
def dense_of_an_open_last_size(tf):
    tf.layers.dense(tf.placeholder(tf.float32, [None, None]), 2)


@mistake
def conv2d_of_flat_images(tf):
    tf.nn.conv2d(tf.zeros([8, 784]), tf.zeros([3, 3, 1, 4]), [1, 1, 1, 1], "SAME")


@mistake
def conv2d_of_other_channels(tf):
    tf.nn.conv2d(tf.zeros([1, 8, 8, 3]), tf.zeros([3, 3, 4, 8]), [1, 1, 1, 1], "SAME")


@mistake
def conv2d_of_one_stride(tf):
    tf.nn.conv2d(tf.zeros([1, 8, 8, 3]), tf.zeros([3, 3, 3, 8]), [2], "SAME")


@mistake
def conv2d_of_small_padding(tf):
    tf.nn.conv2d(tf.zeros([1, 8, 8, 3]), tf.zeros([3, 3, 3, 8]), [1, 1, 1, 1], "same!")


@mistake
def if_of_a_tensor(tf):
    if tf.constant(1.0) > 0:
        return 1


@mistake
def loop_over_a_tensor(tf):
    for _ in tf.zeros([3]):
        pass


@mistake
def len_of_a_tensor(tf):
    len(tf.zeros([3]))


@mistake
def float_of_a_tensor(tf):
    float(tf.constant(1.0))


@mistake
def range_of_a_tensor(tf):
    list(range(tf.constant(3)))


@mistake
def numpy_of_a_tensor(tf):
    np.zeros([tf.constant(3)])


@mistake
def item_assignment(tf):
    x = tf.zeros([3])
    x[0] = 1.0


@mistake
def index_by_a_float(tf):
    tf.zeros([3])[1.0]


@mistake
def a_list_of_ragged_rows(tf):
    tf.constant([[1, 2], [3]])


@mistake
def a_string_for_a_number(tf):
    tf.constant("a", dtype=tf.float32)


@mistake
def cond_of_different_types(tf):
    tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(1.0))


@mistake
def cond_of_tensors(tf):
    tf.cond(tf.constant(True), tf.constant(1), tf.constant(2))


@mistake
def while_loop_of_growing_shapes(tf):
    tf.while_loop(lambda x: tf.size(x) < 9, lambda x: [tf.concat([x, x], 0)], [tf.zeros([2])])


@mistake
def cross_entropy_without_names(tf):
    tf.nn.softmax_cross_entropy_with_logits(tf.zeros([2, 3]), tf.zeros([2, 3]))


@mistake
def sparse_cross_entropy_of_one_hot(tf):
    tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.zeros([2, 3], tf.int32), logits=tf.zeros([2, 3])
    )


@mistake
def sigmoid_cross_entropy_of_other_shapes(tf):
    tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros([2]), logits=tf.zeros([2, 1]))


@mistake
def minimize_without_variables(tf):
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))


@mistake
def minimize_what_does_not_depend_on_them(tf):
    tf.Variable(1.0)
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))


@mistake
def minimize_a_list(tf):
    tf.train.GradientDescentOptimizer(0.1).minimize([tf.square(tf.Variable(1.0))])


@mistake
def rnn_of_two_dims(tf):
    tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), tf.zeros([2, 3]), dtype=tf.float32)


@mistake
def rnn_without_a_dtype(tf):
    tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), tf.zeros([2, 3, 5]))


@mistake
def unknown_padding_of_a_batch(tf):
    tf.train.batch([tf.placeholder(tf.float32, [None])], 2)


@mistake
def saver_without_variables(tf):
    tf.train.Saver()


# ---- running -----------------------------------------------------------------------------------


@mistake
def not_initialized(tf):
    v = tf.Variable(1.0, name="v")
    tf.Session().run(v)


@mistake
def not_fed(tf):
    _, _, y = _net(tf)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    sess.run(y)


@mistake
def fed_a_wrong_shape(tf):
    x, _, _ = _net(tf)
    tf.Session().run(x, {x: np.zeros([2, 4])})


@mistake
def fed_a_tensor(tf):
    x, _, _ = _net(tf)
    tf.Session().run(x, {x: tf.zeros([2, 3])})


@mistake
def fed_by_a_name_of_an_operation(tf):
    x, _, _ = _net(tf)
    tf.Session().run(x, {"x": np.zeros([2, 3])})


@mistake
def fed_none(tf):
    x, _, _ = _net(tf)
    tf.Session().run(x, {x: None})


@mistake
def fed_text(tf):
    x = tf.placeholder(tf.float32, [])
    tf.Session().run(x, {x: "one"})


@mistake
def fetched_none(tf):
    x = tf.constant(1.0)
    tf.Session().run([x, tf.gradients(x, [tf.constant(2.0)])])


@mistake
def fetched_a_result(tf):
    sess = tf.Session()
    loss = tf.constant(1.0)
    loss = sess.run(loss)
    loss = sess.run(loss)


@mistake
def fetched_an_unknown_name(tf):
    _net(tf)
    tf.Session().run("z:0")


@mistake
def fetched_by_a_name_of_an_operation(tf):
    _net(tf)
    return tf.Session().run("global_variables_initializer")


@mistake
def label_out_of_range(tf):
    labels = tf.placeholder(tf.int32, [2])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.zeros([2, 3]))
    tf.Session().run(loss, {labels: [1, 7]})


@mistake
def row_out_of_range(tf):
    ids = tf.placeholder(tf.int32, [2])
    rows = tf.nn.embedding_lookup(tf.zeros([3, 4]), ids)
    tf.Session().run(rows, {ids: [0, 3]})


@mistake
def eval_without_a_session(tf):
    tf.constant(1.0).eval()


@mistake
def run_without_a_session(tf):
    tf.no_op().run()


@mistake
def session_of_a_graph_that_was_reset(tf):
    sess = tf.Session()
    tf.reset_default_graph()
    sess.run(tf.constant(1.0))


@mistake
def reset_inside_of_a_graph(tf):
    with tf.Graph().as_default():
        tf.reset_default_graph()


@mistake
def closed_session(tf):
    x = tf.constant(1.0)
    sess = tf.Session()
    sess.close()
    sess.run(x)


@mistake
def restored_from_nowhere(tf):
    tf.Variable(1.0)
    tf.train.Saver().restore(tf.Session(), "/nowhere/model.ckpt")


@mistake
def forgotten_queue_runners(tf):
    producer = tf.train.string_input_producer(["a"])
    config = tf.ConfigProto(operation_timeout_in_ms=500)
    tf.Session(config=config).run(producer.dequeue())


@mistake
def end_of_a_dataset(tf):
    following = tf.data.Dataset.range(1).make_one_shot_iterator().get_next()
    sess = tf.Session()
    sess.run(following)
    sess.run(following)


@mistake
def finalized_graph(tf):
    tf.get_default_graph().finalize()
    tf.constant(1.0)


@mistake
def unknown_device(tf):
    with tf.device("/gpu:7"):
        x = tf.constant(1.0)
    tf.Session(config=tf.ConfigProto(allow_soft_placement=False)).run(x)


def said(tf):
    """What each mistake says: its error's class and message."""
    found = {}
    for function in MISTAKES:
        tf.reset_default_graph()
        try:
            found[function.__name__] = ["value", repr(function(tf))]
        except Exception as error:
            found[function.__name__] = [type(error).__name__, str(error)]
    return found


if __name__ == "__main__":
    import tensorflow

    json.dump(said(tensorflow), sys.stdout, indent=1)
