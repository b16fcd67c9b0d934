"""An Estimator with a model function and its three modes.  Written as for TensorFlow 1.4."""
from __future__ import absolute_import, division, print_function

import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
LEARNING_RATE = 0.05


def model_fn(features, labels, mode, params):
    rng = np.random.RandomState(50)

    def dense(x, n_in, n_out, name, act=None):
        with tf.variable_scope(name):
            w = tf.get_variable('w', initializer=rng.randn(n_in, n_out).astype('float32') * 0.4)
            b = tf.get_variable('b', [n_out], initializer=tf.zeros_initializer())
        x = tf.matmul(x, w) + b
        return act(x) if act else x

    hidden = dense(tf.to_float(features["x"]), 5, 8, 'first', tf.nn.relu)
    predictions = tf.reshape(dense(hidden, 8, 1, 'second'), [-1])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions={"ages": predictions})
    loss = tf.losses.mean_squared_error(labels, predictions)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=params["learning_rate"])
    train_op = optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())
    eval_metric_ops = {
        "rmse": tf.metrics.root_mean_squared_error(tf.cast(labels, tf.float32), predictions),
        "mae": tf.metrics.mean_absolute_error(tf.cast(labels, tf.float32), predictions)
    }
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op,
                                      eval_metric_ops=eval_metric_ops)


class Losses(tf.train.SessionRunHook):
    def before_run(self, run_context):
        graph = run_context.session.graph
        return tf.train.SessionRunArgs(graph.get_collection(tf.GraphKeys.LOSSES)[0])

    def after_run(self, run_context, run_values):
        print('loss %.6g' % run_values.results)


def main(unused_argv):
    rng = np.random.RandomState(51)
    x = rng.randn(40, 5)
    y = (x[:, 0] - 2 * x[:, 1]).astype(np.float32)
    nn = tf.estimator.Estimator(model_fn=model_fn, params={"learning_rate": LEARNING_RATE},
                                model_dir=tempfile.mkdtemp(),
                                config=tf.estimator.RunConfig(save_checkpoints_steps=5))
    train_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={"x": x}, y=y, batch_size=10, num_epochs=None, shuffle=False)
    nn.train(input_fn=train_input_fn, steps=8, hooks=[Losses()])
    nn.train(input_fn=train_input_fn, max_steps=10, hooks=[Losses()])
    test_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={"x": x[:15]}, y=y[:15], num_epochs=1, shuffle=False)
    ev = nn.evaluate(input_fn=test_input_fn)
    for key in sorted(ev):
        print("%s %.6g" % (key, ev[key]))
    predict_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={"x": x[:4]}, num_epochs=1, shuffle=False)
    for i, p in enumerate(nn.predict(input_fn=predict_input_fn)):
        print("Prediction %s: %.6g" % (i + 1, p["ages"]))
    print(nn.get_variable_names())
    print("%.6g" % np.abs(nn.get_variable_value('first/w')).sum())


if __name__ == "__main__":
    tf.app.run(main=main)
