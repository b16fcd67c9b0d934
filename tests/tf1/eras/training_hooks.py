"""MonitoredTrainingSession with hooks, one's own among them.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.WARN)
checkpoint_dir = tempfile.mkdtemp()
rng = np.random.RandomState(47)
xs, ys = rng.randn(20, 3), rng.randn(20, 1)


class LossHook(tf.train.SessionRunHook):
    def __init__(self, loss, every):
        self.loss, self.every, self.values = loss, every, []

    def begin(self):
        self.step = tf.train.get_global_step()
        print('begin')

    def after_create_session(self, session, coord):
        print('created at step', session.run(self.step))

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        loss = run_values.results
        step = run_context.session.run(self.step)
        self.values.append(loss)
        if step % self.every == 0:
            print('step %d loss %.6g' % (step, loss))
        if loss < 0.05:
            run_context.request_stop()

    def end(self, session):
        print('end at step %d, mean %.6g' % (session.run(self.step), np.mean(self.values)))


def train(last_step):
    with tf.Graph().as_default():
        x = tf.constant(xs, tf.float32)
        y = tf.constant(ys, tf.float32)
        global_step = tf.train.get_or_create_global_step()
        w = tf.get_variable('w', [3, 1], initializer=tf.zeros_initializer())
        loss = tf.losses.mean_squared_error(y, tf.matmul(x, w))
        tf.summary.scalar('loss', loss)
        train_op = tf.train.MomentumOptimizer(0.05, 0.8).minimize(loss, global_step)
        hooks = [tf.train.StopAtStepHook(last_step=last_step), LossHook(loss, 2),
                 tf.train.NanTensorHook(loss),
                 tf.train.LoggingTensorHook({'loss': loss}, every_n_iter=100),
                 tf.train.FeedFnHook(lambda: {})]
        scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=3))
        with tf.train.MonitoredTrainingSession(
                checkpoint_dir=checkpoint_dir, hooks=hooks, scaffold=scaffold,
                save_checkpoint_secs=None, save_summaries_steps=2, log_step_count_steps=None,
                chief_only_hooks=[tf.train.CheckpointSaverHook(
                    checkpoint_dir, save_steps=3, scaffold=scaffold)]) as mon_sess:
            while not mon_sess.should_stop():
                mon_sess.run(train_op)


train(5)
print('second run')
train(9)
latest = tf.train.latest_checkpoint(checkpoint_dir)
print(os.path.basename(latest))
reader = tf.train.NewCheckpointReader(latest)
print(reader.get_tensor('global_step'), ' '.join('%.6g' % v for v in reader.get_tensor('w').ravel()))
print([os.path.basename(p) for p in
       tf.train.get_checkpoint_state(checkpoint_dir).all_model_checkpoint_paths])
