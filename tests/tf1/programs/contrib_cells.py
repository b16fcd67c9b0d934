"""An LSTM of contrib over queues and tf.compat.v1, with a Supervisor and errors by class."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.contrib import rnn
from tensorflow.contrib.rnn import BasicLSTMCell, static_rnn
from tensorflow.python.framework import errors_impl

parser = argparse.ArgumentParser()
parser.add_argument("--data_dir")
args = parser.parse_args()
tf.disable_eager_execution() if hasattr(tf, "disable_eager_execution") else None

rows = np.arange(24, dtype=np.float32).reshape(4, 2, 3) / 24
queue = tf.FIFOQueue(4, [tf.float32], shapes=[[2, 3]])
filled = queue.enqueue_many([rows])
closed = queue.close()
x = queue.dequeue()
with tf.variable_scope("lstm", initializer=tf.constant_initializer(0.2)):
    cell = rnn.MultiRNNCell([BasicLSTMCell(4), BasicLSTMCell(4)])
    outputs, state = static_rnn(cell, [x, x * 2], dtype=tf.float32)
loss = tf.reduce_sum(tf.square(outputs[-1]))
step = tf.train.get_or_create_global_step()
train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
supervisor = tf.train.Supervisor(logdir=args.data_dir, save_model_secs=0, save_summaries_secs=0)
with supervisor.managed_session("") as sess:
    sess.run(filled)
    sess.run(closed)
    losses = []
    try:
        while True:
            losses.append(sess.run([loss, train])[0])
    except tf.errors.OutOfRangeError as error:
        print(isinstance(error, errors_impl.OutOfRangeError), sess.run(step))
print(["%.4f" % value for value in losses])
print([v.name for v in tf.trainable_variables()])
