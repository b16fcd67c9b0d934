"""Feedable and reinitializable iterators, generators, padding.  Written as for TensorFlow 1.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf


def sequences():
    rng = np.random.RandomState(43)
    for i in range(7):
        yield rng.rand(i % 4 + 1), i


def input_fn(training):
    dataset = tf.data.Dataset.from_generator(
        sequences, (tf.float32, tf.int32), (tf.TensorShape([None]), tf.TensorShape([])))
    if training:
        dataset = dataset.repeat(2)
    return dataset.padded_batch(3, padded_shapes=([None], []), padding_values=(-1.0, 0))


train, test = input_fn(True), input_fn(False)
handle = tf.placeholder(tf.string, shape=[])
iterator = tf.data.Iterator.from_string_handle(handle, train.output_types, train.output_shapes)
x, i = iterator.get_next()
result = tf.reduce_sum(tf.maximum(x, 0.0)), tf.reduce_sum(i), tf.shape(x)
train_iterator = train.make_one_shot_iterator()
test_iterator = test.make_initializable_iterator()
with tf.Session() as sess:
    train_handle = sess.run(train_iterator.string_handle())
    test_handle = sess.run(test_iterator.string_handle())
    for step in range(4):
        print('train %.6g %d %s' % tuple(map(lambda v: v.tolist(), sess.run(
            result, {handle: train_handle}))))
        if step % 2:
            sess.run(test_iterator.initializer)
            total = 0.0
            while True:
                try:
                    total += sess.run(result[0], {handle: test_handle})
                except tf.errors.OutOfRangeError:
                    print('test %.6g' % total)
                    break

switch = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
into_train, into_test = switch.make_initializer(train), switch.make_initializer(test)
values, numbers = switch.get_next()
with tf.Session() as sess:
    for init in (into_train, into_test):
        sess.run(init)
        count = 0
        try:
            while True:
                count += len(sess.run(numbers))
        except tf.errors.OutOfRangeError:
            print('examples', count)

text = tf.data.Dataset.from_tensor_slices(['a b c', 'd e', 'f'])
words = text.map(lambda line: tf.string_split([line]).values).flat_map(
    lambda w: tf.data.Dataset.from_tensor_slices(w))
lengths = text.map(lambda line: tf.size(tf.string_split([line])))
grouped = tf.data.Dataset.range(9).apply(tf.contrib.data.group_by_window(
    lambda n: n % 2, lambda key, window: window.batch(10), 10))
scanned = tf.data.Dataset.range(5).apply(
    tf.contrib.data.scan(np.int64(1), lambda state, n: (state * 2, state + n)))
nexts = [d.make_one_shot_iterator().get_next() for d in (words, lengths, grouped, scanned)]
with tf.Session() as sess:
    for element, count in zip(nexts, (6, 3, 2, 5)):
        elements = [sess.run(element) for _ in range(count)]
        print([e.tolist() if hasattr(e, 'tolist') else e.decode() for e in elements])
