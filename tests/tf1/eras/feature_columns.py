"""Feature columns into an input layer, in a session of one's own.  As for TensorFlow 1.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

fc = tf.feature_column
rng = np.random.RandomState(54)
features = {
    'price': tf.constant([[1.0], [7.5], [3.2], [9.9]]),
    'size': tf.constant([[0.5, 1.5], [2.5, 3.5], [4.5, 0.5], [1.0, 2.0]]),
    'color': tf.constant([['red'], ['blue'], ['green'], ['pink']]),
    'shop': tf.constant([[2], [0], [9], [1]]),
    'tags': tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], ['new', 'sale', 'sale', 'old'],
                            [4, 2]),
}
price = fc.numeric_column('price')
size = fc.numeric_column('size', shape=[2], normalizer_fn=lambda x: x - 1.0)
buckets = fc.bucketized_column(price, [2.0, 5.0, 8.0])
color = fc.categorical_column_with_vocabulary_list('color', ['red', 'green', 'blue'],
                                                   num_oov_buckets=1)
shop = fc.categorical_column_with_identity('shop', 5, default_value=4)
tags = fc.categorical_column_with_hash_bucket('tags', 10)
cross = fc.crossed_column([buckets, 'color'], 12)


def values(*shape):
    return tf.constant_initializer(rng.randn(*shape))


columns = [
    price, size, buckets, fc.indicator_column(color),
    fc.embedding_column(shop, 3, initializer=values(5, 3)),
    fc.embedding_column(tags, 2, combiner='sum', initializer=values(10, 2)),
    fc.indicator_column(cross),
]
net = fc.input_layer(features, columns)
print(net.shape.as_list())
wide = fc.linear_model(features, [buckets, color, tags, cross], units=1)
hidden = tf.get_variable('hidden', [net.shape[1].value, 1], initializer=tf.constant_initializer(
    0.2 * rng.randn(net.shape[1].value)))
logits = tf.matmul(net, hidden) + wide
labels = tf.constant([[1.0], [0.0], [0.0], [1.0]])
loss = tf.losses.sigmoid_cross_entropy(labels, logits)
train_op = tf.train.FtrlOptimizer(0.1).minimize(loss)
spec = fc.make_parse_example_spec([price, color, tags, buckets])
for key in sorted(spec):
    print(key, type(spec[key]).__name__, spec[key].dtype.name)
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    for row in sess.run(net):
        print(' '.join('%.6g' % v for v in row))
    for step in range(4):
        print('step %d loss %.6g' % (step, sess.run([loss, train_op])[0]))
for v in tf.trainable_variables():
    print(v.op.name, v.shape.as_list())
