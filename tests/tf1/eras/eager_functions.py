"""tfe.gradients_function, implicit_value_and_gradients, defun, Iterator.  TensorFlow 1.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf
import tensorflow.contrib.eager as tfe

tf.enable_eager_execution()
rng = np.random.RandomState(66)

NUM_EXAMPLES = 40
training_inputs = tf.constant(rng.randn(NUM_EXAMPLES), tf.float32)
training_outputs = training_inputs * 3 + 2 + tf.constant(0.1 * rng.randn(NUM_EXAMPLES), tf.float32)

W = tfe.Variable(5., name='weight')
B = tfe.Variable(10., name='bias')


def prediction(input):
    return input * W + B


def loss():
    error = prediction(training_inputs) - training_outputs
    return tf.reduce_mean(tf.square(error))


value_and_gradients_fn = tfe.implicit_value_and_gradients(loss)
optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
print("Initial loss: %.6g" % loss().numpy())
for i in range(8):
    value, gradients = value_and_gradients_fn()
    optimizer.apply_gradients(gradients)
    if i % 2 == 0:
        print("Loss at step %d: %.6g" % (i, value.numpy()))
print("Final W, B: %.6g %.6g" % (W.numpy(), B.numpy()))


def square(x):
    return tf.multiply(x, x)


grad = tfe.gradients_function(square)
gradgrad = tfe.gradients_function(lambda x: grad(x)[0])
print("%.6g %.6g" % (grad(3.)[0].numpy(), gradgrad(3.)[0].numpy()))


@tfe.defun
def step(state, x):
    for _ in range(2):
        state = tf.tanh(tf.matmul(state, kernel) + x)
    return state


kernel = tf.constant(0.4 * rng.randn(3, 3), tf.float32)
state = tf.zeros([2, 3])
for x in tfe.Iterator(tf.data.Dataset.from_tensor_slices(
        rng.randn(3, 2, 3).astype(np.float32))):
    state = step(state, x)
    print(' '.join('%.6g' % s for s in state.numpy().ravel()))


@tfe.custom_gradient
def clip_gradient_by_norm(x, norm):
    y = tf.identity(x)

    def grad_fn(dresult):
        return [tf.clip_by_norm(dresult, norm), None]
    return y, grad_fn


print([g.numpy().tolist() for g in tfe.gradients_function(
    lambda x: tf.reduce_sum(clip_gradient_by_norm(x, 0.5) * 3.0), params=[0])(
        tf.constant([1.0, 2.0]))][0][0].__format__('.6g'))
checkpoint = tfe.Saver([W, B])
with tf.device('/cpu:0'):
    total = tf.py_func(lambda a: a.sum(), [state], tf.float32)
print('%.6g' % total.numpy(), W.shape, tfe.num_gpus() >= 0)
