"""Towers in which another optimizer trains are refused."""

import pytest

import penstock as tf


def test_another_optimizer_is_refused():
    def plain(features, labels, mode):
        loss = tf.get_variable("w", initializer=2.0) * tf.reduce_sum(features)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    both = tf.contrib.estimator.replicate_model_fn(plain, devices=["/cpu:0", "/cpu:1"])
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="wrap optimizers with TowerOptimizer"):
            both(tf.ones([4, 1]), tf.ones([4, 1]), "train")
