"""A program of tests; its framework is in the environment."""

# Written as TF1 programs are, and run in Python 3.7 as well.
# ruff: noqa: UP005, UP008

import importlib
import os
import sys

import numpy as np

tf = importlib.import_module(os.environ["FRAMEWORK"])
FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_integer("size", 2, "Of arrays.")


class SquareTest(tf.test.TestCase):
    def setUp(self):
        super(SquareTest, self).setUp()
        self.size = FLAGS.size

    def testSquare(self):
        with self.test_session() as sess:
            x = tf.placeholder(tf.float32, [None])
            self.assertAllClose(np.ones(self.size), sess.run(x * x, {x: np.ones(self.size)}))

    def testFresh(self):
        self.assertEquals([], tf.get_default_graph().get_operations())
        with self.cached_session(use_gpu=True):
            self.assertAllEqual([1, 4], tf.square([1, 2]))
        with self.cached_session(use_gpu=True):
            self.assertItemsEqual([2, 1], self.evaluate(tf.constant([1, 2])).tolist())

    def testError(self):
        with self.session(graph=tf.Graph()):
            x = tf.placeholder(tf.float32, [])
            with self.assertRaisesOpError("placeholder"):
                tf.identity(x).eval()

    def testWrong(self):
        if "wrong" in sys.argv or os.environ.get("WRONG"):
            self.assertAllClose([1.0, 2.0], [1.0, 2.5])


class Products(tf.test.Benchmark):
    def benchmarkProduct(self):
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.ones([2, 2])
            self.run_op_benchmark(sess, tf.matmul(x, x).op, min_iters=3, name="product")


if __name__ == "__main__":
    tf.test.main()
