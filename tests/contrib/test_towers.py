"""Towers are refused where another optimizer trains: TensorFlow's check remembers the process."""

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


def test_whether_one_was_used_is_told():
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=2.0)
        tf.contrib.estimator.TowerOptimizer(tf.train.GradientDescentOptimizer(0.1)).minimize(w * w)
        assert tf.contrib.estimator.TowerOptimizer.has_been_used()
