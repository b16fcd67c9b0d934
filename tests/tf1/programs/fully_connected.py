"""The mechanics tutorial: mnist.py's network, flags, summaries, a checkpoint."""

from __future__ import absolute_import, division, print_function

import os

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import mnist

flags = tf.app.flags
FLAGS = flags.FLAGS
flags.DEFINE_float("learning_rate", 0.1, "Initial learning rate.")
flags.DEFINE_integer("max_steps", 12, "Number of steps to run trainer.")
flags.DEFINE_string("data_dir", "/tmp/data", "Where the log goes.")


def main(_):
    rng = np.random.RandomState(0)
    images = rng.rand(60, mnist.IMAGE_PIXELS).astype(np.float32)
    labels = rng.randint(0, mnist.NUM_CLASSES, 60).astype(np.int32)
    with tf.Graph().as_default():
        images_placeholder = tf.placeholder(tf.float32, shape=(20, mnist.IMAGE_PIXELS))
        labels_placeholder = tf.placeholder(tf.int32, shape=(20))
        logits = mnist.inference(images_placeholder, 16, 8)
        loss = mnist.loss(logits, labels_placeholder)
        train_op = mnist.training(loss, FLAGS.learning_rate)
        eval_correct = mnist.evaluation(logits, labels_placeholder)
        summary = tf.summary.merge_all()
        saver = tf.train.Saver()
        log_dir = os.path.join(FLAGS.data_dir, "log")
        with tf.Session() as sess:
            writer = tf.summary.FileWriter(log_dir, sess.graph)
            sess.run(tf.global_variables_initializer())
            for variable in tf.trainable_variables():  # the same values everywhere
                value = rng.normal(size=variable.get_shape().as_list(), scale=0.1)
                variable.load(value, sess)
            for step in range(FLAGS.max_steps):
                i = step % 3 * 20
                feed = {
                    images_placeholder: images[i : i + 20],
                    labels_placeholder: labels[i : i + 20],
                }
                _, value, text = sess.run([train_op, loss, summary], feed_dict=feed)
                writer.add_summary(text, step)
            print("loss %.3f, right %d" % (value, sess.run(eval_correct, feed_dict=feed)))
            path = saver.save(sess, os.path.join(log_dir, "model.ckpt"), global_step=step)
            print(os.path.basename(path), [v.op.name for v in tf.global_variables()])
            writer.close()
        events = [f for f in os.listdir(log_dir) if f.startswith("events")]
        read = [
            v.simple_value
            for e in tf.train.summary_iterator(os.path.join(log_dir, events[0]))
            for v in e.summary.value
        ]
        print(len(read), "summaries")


if __name__ == "__main__":
    tf.app.run()
