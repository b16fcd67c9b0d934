"""A tf.test.TestCase run by its main.  Written as for TensorFlow 1.0."""
from __future__ import absolute_import, division, print_function

import os

import numpy as np
import tensorflow as tf


class SquareTest(tf.test.TestCase):

  def setUp(self):
    self.rng = np.random.RandomState(78)

  def testSquare(self):
    with self.test_session():
      x = tf.square([2, 3])
      self.assertAllEqual(x.eval(), [4, 9])
      print('square', x.eval().tolist())

  def testGradients(self):
    with self.test_session() as sess:
      x = tf.placeholder(tf.float32, [3, 2])
      w = tf.constant(self.rng.randn(2, 4).astype(np.float32))
      y = tf.nn.softmax(tf.matmul(x, w))
      g, = tf.gradients(tf.log(y[:, 0]), x)
      value = sess.run(g, {x: self.rng.randn(3, 2)})
      print('gradients', ' '.join('%.6g' % v for v in value.ravel()))
      error = tf.test.compute_gradient_error(x, [3, 2], y, [3, 4])
      self.assertLess(error, 1e-2)

  def testNear(self):
    with self.test_session():
      self.assertNear(1.0, tf.exp(1e-7).eval(), 1e-5)
      self.assertAllClose([1.0, 2.0], tf.constant([1.0, 2.0 + 1e-7]).eval())
      with self.assertRaises(AssertionError):
        self.assertAllClose([1.0, 2.0], [1.0, 2.1])
      with self.assertRaisesOpError('Reshape|reshape'):
        tf.reshape(tf.placeholder_with_default([1, 2, 3], [None]), [2, -1]).eval()
      print('near')

  def testProto(self):
    config = tf.ConfigProto(allow_soft_placement=True)
    self.assertProtoEquals('allow_soft_placement: true', config)
    print('proto')

  def testTemp(self):
    path = os.path.join(self.get_temp_dir(), 'x')
    with tf.gfile.Open(path, 'w') as f:
      f.write('one\ntwo\n')
    self.assertEqual(['one\n', 'two\n'], tf.gfile.Open(path).readlines())
    self.assertTrue(tf.gfile.Exists(path))
    tf.gfile.Remove(path)
    self.assertFalse(tf.gfile.Exists(path))
    print('files')


if __name__ == '__main__':
  tf.test.main()
