"""A Sequential model of tf.keras: fit, evaluate, predict, weights.  As for TensorFlow 1.12."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.RandomState(12)
x_train = rng.rand(48, 10, 10, 1).astype(np.float32)
y_train = rng.randint(0, 3, 48)
for image, label in zip(x_train, y_train):
    image[3 * label:3 * label + 3] += 1.0

model = keras.Sequential([
    keras.layers.Conv2D(4, (3, 3), activation='relu', input_shape=(10, 10, 1)),
    keras.layers.MaxPooling2D(pool_size=(2, 2)),
    keras.layers.Flatten(),
    keras.layers.Dense(12, activation=tf.nn.relu),
    keras.layers.Dense(3, activation=tf.nn.softmax),
])
model.compile(optimizer=tf.train.AdamOptimizer(0.005),
              loss='sparse_categorical_crossentropy',
              metrics=['accuracy'])
weights = [(0.3 * rng.randn(*w.shape)).astype(np.float32) for w in model.get_weights()]
model.set_weights(weights)
print([w.shape for w in weights], model.count_params())

history = model.fit(x_train, y_train, epochs=4, batch_size=16, shuffle=False, verbose=0)
for epoch, (loss, acc) in enumerate(zip(history.history['loss'], history.history['acc'])):
    print('epoch %d loss %.6g acc %.6g' % (epoch, loss, acc))
test_loss, test_acc = model.evaluate(x_train[:20], y_train[:20], verbose=0)
print('test %.6g %.6g' % (test_loss, test_acc))

path = os.path.join(tempfile.mkdtemp(), 'weights')
model.save_weights(path, save_format='tf')
before = model.predict(x_train[:2])
model.set_weights([np.zeros_like(w) for w in weights])
print('zeroed %.6g' % model.predict(x_train[:2])[0, 0])
model.load_weights(path)
after = model.predict(x_train[:2])
print('equal', np.array_equal(before, after))
for row in after:
    print(' '.join('%.6g' % v for v in row))
