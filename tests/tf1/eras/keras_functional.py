"""A functional tf.keras model, its callbacks, and an Estimator made of it.  TensorFlow 1.12."""
from __future__ import print_function

import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.keras import backend as K
from tensorflow.python.keras.callbacks import Callback, EarlyStopping, LearningRateScheduler
from tensorflow.python.keras.layers import Concatenate, Dense, Embedding, Flatten, Input
from tensorflow.python.keras.models import Model

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(76)


def make():
    words = Input(shape=(4,), dtype='int32', name='words')
    numbers = Input(shape=(3,), name='numbers')
    embedded = Flatten()(Embedding(10, 3, name='table')(words))
    merged = Concatenate()([embedded, numbers])
    hidden = Dense(6, activation='tanh', kernel_regularizer=tf.keras.regularizers.l2(0.01))(merged)
    out = Dense(1, activation='sigmoid', name='out')(hidden)
    side = tf.keras.layers.Lambda(lambda t: tf.reduce_sum(t, axis=1, keepdims=True),
                                  name='side')(hidden)
    return Model(inputs=[words, numbers], outputs=[out, side])


class History(Callback):
    def on_train_begin(self, logs=None):
        self.losses = []

    def on_batch_end(self, batch, logs=None):
        self.losses.append(logs.get('loss'))

    def on_epoch_end(self, epoch, logs=None):
        print('epoch %d lr %.6g loss %.6g val %.6g' % (
            epoch, K.get_value(self.model.optimizer.lr), logs['loss'], logs['val_loss']))


model = make()
shapes = [w.shape for w in model.get_weights()]
model.set_weights([(0.4 * np.random.RandomState(i).randn(*s)).astype('float32')
                   for i, s in enumerate(shapes)])
model.compile(optimizer=tf.keras.optimizers.SGD(lr=0.1, momentum=0.5),
              loss={'out': 'binary_crossentropy', 'side': 'mse'},
              loss_weights={'out': 1.0, 'side': 0.1}, metrics={'out': ['accuracy']})
x = {'words': rng.randint(0, 10, (30, 4)), 'numbers': rng.randn(30, 3)}
y = {'out': rng.randint(0, 2, (30, 1)).astype('float32'), 'side': rng.randn(30, 1)}
history = History()
model.fit(x, y, batch_size=10, epochs=4, shuffle=False, verbose=0, validation_split=0.2,
          callbacks=[history, LearningRateScheduler(lambda e: 0.1 * 0.8 ** e),
                     EarlyStopping(patience=5)])
print(len(history.losses), '%.6g' % history.losses[-1])
for name, value in zip(model.metrics_names, model.evaluate(x, y, verbose=0)):
    print(name, '%.6g' % value)
print([layer.name for layer in model.layers])
out, side = model.predict({k: v[:3] for k, v in x.items()})
print(' '.join('%.6g' % v for v in np.concatenate([out, side], 1).ravel()))
print(sorted(model.get_config()))
again = Model.from_config(model.get_config())
again.set_weights(model.get_weights())
print(np.allclose(again.predict(x)[0], model.predict(x)[0]))

K.clear_session()
inputs = Input(shape=(3,), name='x')
small = Model(inputs, Dense(1, kernel_initializer='zeros', name='y')(inputs))
small.compile(tf.train.GradientDescentOptimizer(0.1), 'mse')
estimator = tf.keras.estimator.model_to_estimator(small, model_dir=tempfile.mkdtemp())
input_fn = tf.estimator.inputs.numpy_input_fn(
    {'x': x['numbers'].astype('float32')}, y['side'].astype('float32'), batch_size=10,
    num_epochs=3, shuffle=False)
estimator.train(input_fn)
metrics = estimator.evaluate(input_fn)
print('loss %.6g step %d' % (metrics['loss'], metrics['global_step']))
