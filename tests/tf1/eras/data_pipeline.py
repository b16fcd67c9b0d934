"""tf.data from slices: map, filter, batch, repeat, initializable.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(42)
features = rng.randn(30, 4).astype(np.float32)
labels = (features.sum(1) > 0).astype(np.int32)


def _parse_function(x, y):
    x = tf.clip_by_value(x, -1.5, 1.5)
    return {'x': x, 'norm': tf.norm(x)}, y


features_placeholder = tf.placeholder(features.dtype, features.shape)
labels_placeholder = tf.placeholder(labels.dtype, labels.shape)
dataset = tf.data.Dataset.from_tensor_slices((features_placeholder, labels_placeholder))
dataset = dataset.map(_parse_function, num_parallel_calls=2)
dataset = dataset.filter(lambda f, y: tf.less(f['norm'], 2.5))
dataset = dataset.batch(8).prefetch(1)
iterator = dataset.make_initializable_iterator()
next_features, next_labels = iterator.get_next()

w = tf.get_variable('w', [4, 2], initializer=tf.constant_initializer(0.3 * rng.randn(4, 2)))
logits = tf.matmul(next_features['x'], w)
loss = tf.losses.sparse_softmax_cross_entropy(labels=next_labels, logits=logits)
train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(3):
        sess.run(iterator.initializer, feed_dict={features_placeholder: features,
                                                  labels_placeholder: labels})
        total, batches = 0.0, []
        while True:
            try:
                value, size, _ = sess.run([loss, tf.size(next_labels), train_op])
                total += value
                batches.append(int(size))
            except tf.errors.OutOfRangeError:
                break
        print('epoch %d mean loss %.6g batches %s' % (epoch, total / len(batches), batches))

# Other ways to make one.
squares = tf.data.Dataset.range(10).map(lambda x: x * x)
windows = squares.apply(tf.contrib.data.batch_and_drop_remainder(3))
pairs = tf.data.Dataset.zip((windows, tf.data.Dataset.from_tensors(7).repeat()))
both = pairs.concatenate(pairs.skip(1)).take(4)
flat = tf.data.Dataset.range(1, 4).flat_map(
    lambda n: tf.data.Dataset.from_tensors(n).repeat(n))
one, two = both.make_one_shot_iterator().get_next(), flat.make_one_shot_iterator().get_next()
with tf.Session() as sess:
    for _ in range(4):
        row, seven = sess.run(one)
        print(row.tolist(), seven)
    print([int(sess.run(two)) for _ in range(6)])
