"""Programs of ``tf.contrib.training.batch_sequences_with_states`` (``recorded``)."""

import numpy as np

from tests.contrib.recorded import refused


def _batches(tf, lengths, batch_size, num_unroll, **options):
    """What each batch of segments has, where the state counts the steps."""
    training = tf.contrib.training
    steps = tf.train.slice_input_producer(
        [tf.constant(lengths)], num_epochs=1, shuffle=False, capacity=1
    )[0]
    x = tf.reshape(tf.cast(tf.range(2 * steps), tf.float32), [-1, 2])
    words = tf.as_string(tf.range(steps))
    batch = training.batch_sequences_with_states(
        tf.string_join(["n", tf.as_string(steps)]),
        {"x": x, "words": words},
        {"c": tf.stack([steps, -steps])},
        None,
        {"s": tf.zeros([2])},
        num_unroll,
        batch_size,
        num_threads=1,
        **options,
    )
    static = [t.shape.as_list() for t in (batch.sequences["x"], batch.context["c"], batch.length)]
    found = [batch.key, batch.next_key, batch.sequence, batch.sequence_count, batch.length]
    found += [batch.total_length, batch.batch_size, batch.state("s"), batch.insertion_index]
    found += [batch.sequences["x"], batch.sequences["words"], batch.context["c"]]
    save = batch.save_state("s", batch.state("s") + tf.reduce_sum(batch.sequences["x"], 1))
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        threads = tf.train.start_queue_runners(sess, start=False)
        # Before a step is taken all examples are in: which are in a batch depends on it.
        for thread in threads:
            thread.daemon = True
            thread.start()
        threads[-1].join() if options.get("capacity") is None else None
        taken = []
        try:
            while True:
                taken.append(sess.run(found + [save])[:-1])
        except tf.errors.OutOfRangeError:
            pass
    return [static, list(batch.sequences), list(batch.context), taken]


def case_batches_of_segments(tf):
    return _batches(tf, [5, 2, 7, 4], 2, 3)


def case_only_whole_batches(tf):
    return _batches(tf, [4, 3, 2, 1], 2, 2, allow_small_batch=False)


def case_one_at_a_time(tf):
    return _batches(tf, [3, 1, 2], 1, 2)


def case_state_saving_rnn(tf):
    training, rnn = tf.contrib.training, tf.nn.rnn_cell
    x = np.linspace(-1, 1, 12).astype("float32").reshape([6, 2])
    with tf.variable_scope("net", initializer=tf.constant_initializer(0.3)):
        batch = training.batch_sequences_with_states(
            tf.train.string_input_producer(["a"], num_epochs=1).dequeue(),
            {"x": tf.constant(x)}, {}, None,
            {"c": tf.zeros([4]), "h": tf.zeros([4])}, 2, 1, num_threads=1,
        )  # fmt: skip
        steps = tf.unstack(batch.sequences["x"], axis=1)
        outputs, _ = tf.contrib.rnn.static_state_saving_rnn(
            rnn.BasicLSTMCell(4), steps, batch, ("c", "h"), sequence_length=batch.length
        )
    made = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        # Steps until the segments end: where a coordinator stops the queues while they work,
        # TensorFlow 1.15 may wait for one of its own closing steps without end.
        tf.train.start_queue_runners(sess)
        try:
            while True:
                made.append(sess.run(outputs))
        except tf.errors.OutOfRangeError:
            pass
    return made


def case_refusals(tf):
    training = tf.contrib.training
    args = ["k", {"x": tf.ones([4, 1])}, {}, None, {"s": tf.zeros([1])}, 2, 2]

    def with_(index, value, **options):
        given = args[:]
        given[index] = value
        return training.batch_sequences_with_states(*given, **options)

    made = with_(0, "k")
    return [
        refused(lambda: with_(0, "k", pad=False)),
        refused(lambda: with_(0, "k", capacity=1)),
        refused(lambda: made.state("t")),
        refused(lambda: made.save_state("t", tf.ones([2, 1])), "state was not declared: t"),
        refused(lambda: made.save_state("s", tf.ones([2, 2]))),
        refused(lambda: with_(4, {"s": tf.placeholder(tf.float32, [None])})),
    ]
