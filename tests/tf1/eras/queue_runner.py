"""FIFOQueue, PaddingFIFOQueue and QueueRunner by hand.  Written as for TensorFlow 0.12."""
from __future__ import print_function

import threading

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(46)
data = rng.randn(20, 3).astype(np.float32)
target = data.sum(1)

# A queue filled by a thread of one's own.
queue_input_data = tf.placeholder(tf.float32, shape=[10, 3])
queue_input_target = tf.placeholder(tf.float32, shape=[10])
queue = tf.FIFOQueue(capacity=50, dtypes=[tf.float32, tf.float32], shapes=[[3], []])
enqueue_op = queue.enqueue_many([queue_input_data, queue_input_target])
data_batch, target_batch = queue.dequeue_many(5)
close_op = queue.close()
w = tf.Variable(tf.zeros([3]))
loss = tf.reduce_mean(tf.square(tf.reduce_sum(tf.mul(data_batch, w), 1) - target_batch))
train = tf.train.AdagradOptimizer(0.5).minimize(loss)


def enqueue(sess):
    for under in (0, 10, 0, 10):
        sess.run(enqueue_op, feed_dict={queue_input_data: data[under:under + 10],
                                        queue_input_target: target[under:under + 10]})
    sess.run(close_op)


# A queue filled by a QueueRunner.
counter = tf.Variable(0, name='counter')
numbers = tf.FIFOQueue(4, tf.int32, shapes=[[]])
increment = counter.assign_add(1)
runner = tf.train.QueueRunner(numbers, [numbers.enqueue(tf.minimum(increment, 1000))])
tf.train.add_queue_runner(runner)
number = numbers.dequeue()

# Rows of different lengths.
padding = tf.PaddingFIFOQueue(10, [tf.int32], [[None]])
row = tf.placeholder(tf.int32, [None])
enqueue_row = padding.enqueue([row])
rows = padding.dequeue_many(3)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    thread = threading.Thread(target=enqueue, args=[sess])
    thread.daemon = True
    thread.start()
    step = 0
    try:
        while True:
            value, _ = sess.run([loss, train])
            print('%d %.6g' % (step, value))
            step += 1
    except tf.errors.OutOfRangeError:
        print('closed after', step)
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    print([int(sess.run(number)) for _ in range(6)])
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=5)
    for n in (2, 4, 1):
        sess.run(enqueue_row, {row: np.arange(n) + 1})
    print(sess.run(padding.size()), sess.run(rows).tolist())
