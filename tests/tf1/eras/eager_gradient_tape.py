"""Eager execution with GradientTape and Keras layers.  Written as for TensorFlow 1.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

tf.enable_eager_execution()
tfe = tf.contrib.eager
rng = np.random.RandomState(65)

print(tf.executing_eagerly(), tf.add(1, 2).numpy(), tf.square([1.5, 2.5]).numpy().tolist())

x_data = rng.randn(48, 4).astype(np.float32)
y_data = (x_data[:, 0] > x_data[:, 1]).astype(np.int32) + (x_data[:, 2] > 1).astype(np.int32)
train_dataset = tf.data.Dataset.from_tensor_slices((x_data, y_data)).batch(16)

model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation=tf.nn.tanh, input_shape=(4,)),
    tf.keras.layers.Dense(3)
])
model.set_weights([(0.4 * rng.randn(*w.shape)).astype(np.float32) for w in model.get_weights()])


def loss(model, x, y):
    y_ = model(x)
    return tf.losses.sparse_softmax_cross_entropy(labels=y, logits=y_)


def grad(model, inputs, targets):
    with tf.GradientTape() as tape:
        loss_value = loss(model, inputs, targets)
    return loss_value, tape.gradient(loss_value, model.trainable_variables)


optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.3)
global_step = tf.train.get_or_create_global_step()
for epoch in range(4):
    epoch_loss_avg = tfe.metrics.Mean()
    epoch_accuracy = tfe.metrics.Accuracy()
    for x, y in train_dataset:
        loss_value, grads = grad(model, x, y)
        optimizer.apply_gradients(zip(grads, model.variables), global_step)
        epoch_loss_avg(loss_value)
        epoch_accuracy(tf.argmax(model(x), axis=1, output_type=tf.int32), y)
    print("Epoch {:03d}: Loss: {:.6g}, Accuracy: {:.6g}".format(
        epoch, epoch_loss_avg.result(), epoch_accuracy.result()))
print(global_step.numpy())

# Higher orders, Python's own control flow, a persistent tape.
v = tf.Variable(1.5)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        z = v * v * v
        while z > 1.0:
            z = z * 0.5
    first = inner.gradient(z, v)
print('%.6g %.6g %.6g' % (z.numpy(), first.numpy(), outer.gradient(first, v).numpy()))
c = tf.constant(3.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(c)
    square = c * c
    fourth = square * square
print('%.6g %.6g' % (tape.gradient(fourth, c).numpy(), tape.gradient(square, c).numpy()))
