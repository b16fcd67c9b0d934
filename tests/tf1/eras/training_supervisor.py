"""A Supervisor that saves and resumes.  Written as for TensorFlow 0.12."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf

logdir = tempfile.mkdtemp()
rng = np.random.RandomState(48)
train_x = rng.randn(30, 2).astype(np.float32)
train_y = (train_x.dot([2.0, -3.4]) + 4.2).reshape(-1, 1).astype(np.float32)


def train(steps):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.placeholder(tf.float32, [None, 1])
        w = tf.Variable(tf.zeros([2, 1]), name='w')
        b = tf.Variable(tf.zeros([1]), name='b')
        global_step = tf.Variable(0, name='global_step', trainable=False)
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        train_op = tf.train.AdamOptimizer(0.3).minimize(loss, global_step=global_step)
        tf.scalar_summary('loss', loss)
        summary_op = tf.merge_all_summaries()
        init_op = tf.initialize_all_variables()
        saver = tf.train.Saver()
        sv = tf.train.Supervisor(is_chief=True, logdir=logdir, init_op=init_op,
                                 summary_op=None, saver=saver, global_step=global_step,
                                 save_model_secs=0)
        with sv.managed_session() as sess:
            first = sess.run(global_step)
            print('starts at', first)
            while not sv.should_stop():
                feed = {x: train_x, y: train_y}
                _, value = sess.run([train_op, loss], feed)
                step = sess.run(global_step)
                if step % 2 == 0:
                    print('step %d loss %.6g' % (step, value))
                    sv.summary_computed(sess, sess.run(summary_op, feed))
                if step - first >= steps:
                    break
            sv.saver.save(sess, sv.save_path, global_step=global_step)
            print('w %.6g %.6g b %.6g' % (tuple(sess.run(w).ravel()) + tuple(sess.run(b))))
        sv.stop()


train(6)
train(4)
state = tf.train.get_checkpoint_state(logdir)
print([os.path.basename(p) for p in state.all_model_checkpoint_paths])
