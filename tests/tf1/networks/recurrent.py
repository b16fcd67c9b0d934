"""Networks made with ``tf.nn.rnn_cell``, ``tf.contrib.rnn`` and ``tf.contrib.seq2seq``."""

from tests.tf1.networks.observe import Network, classes, classified, numbers


def language_model(tf):
    words = tf.placeholder(tf.int32, [4, 6])
    with tf.variable_scope("Model", initializer=tf.random_uniform_initializer(-0.1, 0.1)):
        table = tf.get_variable("embedding", [25, 8])
        inputs = tf.nn.embedding_lookup(table, words)
        cells = [tf.nn.rnn_cell.BasicLSTMCell(8, forget_bias=0.0) for _ in range(2)]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        outputs, _ = tf.nn.dynamic_rnn(cell, inputs, initial_state=cell.zero_state(4, tf.float32))
        logits = tf.layers.dense(tf.reshape(outputs, [-1, 8]), 25)
    loss = tf.contrib.seq2seq.sequence_loss(
        tf.reshape(logits, [4, 6, 25]), tf.constant(classes(25, [4, 6], 5)), tf.ones([4, 6])
    )
    return Network({words: classes(25, [4, 6])}, logits, loss)


def both_directions(tf):
    x = tf.placeholder(tf.float32, [None, 7, 5])
    forward, backward = (tf.nn.rnn_cell.GRUCell(6) for _ in range(2))
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(
        forward, backward, x, sequence_length=tf.constant([7, 3, 5, 1]), dtype=tf.float32
    )
    logits = tf.layers.dense(tf.concat(outputs, 2)[:, -1], 3)
    return classified(tf, {x: numbers([4, 7, 5])}, logits, classes(3, 4))


def unrolled(tf):
    x = tf.placeholder(tf.float32, [None, 5, 4])
    cell = tf.contrib.rnn.LSTMCell(6, use_peepholes=True, num_proj=3)
    outputs, _ = tf.nn.static_rnn(cell, tf.unstack(x, 5, 1), dtype=tf.float32)
    return classified(tf, {x: numbers([4, 5, 4])}, outputs[-1], classes(3, 4))


def normalized(tf):
    x = tf.placeholder(tf.float32, [None, 5, 4])
    cell = tf.contrib.rnn.LayerNormBasicLSTMCell(6)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    logits = tf.contrib.layers.linear(outputs[:, -1], 3)
    return classified(tf, {x: numbers([4, 5, 4])}, logits, classes(3, 4))


def attention(tf):
    x = tf.placeholder(tf.float32, [3, 6, 5])
    targets = tf.constant(numbers([3, 4, 5], 4))
    memory, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), x, dtype=tf.float32)
    mechanism = tf.contrib.seq2seq.BahdanauAttention(7, memory)
    cell = tf.contrib.seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(8), mechanism, attention_layer_size=6
    )
    helper = tf.contrib.seq2seq.TrainingHelper(targets, tf.constant([4, 4, 4]))
    start = cell.zero_state(3, tf.float32).clone(cell_state=state)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, start, tf.layers.Dense(9))
    outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)
    logits = outputs.rnn_output
    loss = tf.contrib.seq2seq.sequence_loss(
        logits, tf.constant(classes(9, [3, 4])), tf.ones([3, 4])
    )
    return Network({x: numbers([3, 6, 5])}, logits, loss)


NETWORKS = {
    function.__name__: function
    for function in (language_model, both_directions, unrolled, normalized, attention)
}
