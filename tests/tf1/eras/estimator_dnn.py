"""A DNNClassifier, warm-started from a checkpoint of this file.  As for TensorFlow 1.12."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(53)
CSV_COLUMN_NAMES = ['SepalLength', 'SepalWidth', 'PetalLength', 'PetalWidth']
train_y = rng.randint(0, 3, 45)
train_x = {name: (rng.randn(45) + train_y * i).astype(np.float32)
           for i, name in enumerate(CSV_COLUMN_NAMES)}


def write_checkpoint():
    sizes = [4, 8, 6, 3]
    with tf.Graph().as_default(), tf.Session() as sess:
        for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
            scope = 'dnn/logits' if i == 2 else 'dnn/hiddenlayer_%d' % i
            tf.Variable(0.4 * rng.randn(a, b).astype(np.float32), name=scope + '/kernel')
            tf.Variable(np.full([b], 0.1, np.float32), name=scope + '/bias')
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, os.path.join(tempfile.mkdtemp(), 'start.ckpt'))


def train_input_fn(features, labels, batch_size):
    dataset = tf.data.Dataset.from_tensor_slices((dict(features), labels))
    return dataset.repeat().batch(batch_size)


def eval_input_fn(features, labels, batch_size):
    inputs = dict(features) if labels is None else (dict(features), labels)
    return tf.data.Dataset.from_tensor_slices(inputs).batch(batch_size)


my_feature_columns = [tf.feature_column.numeric_column(key=key) for key in CSV_COLUMN_NAMES]
classifier = tf.estimator.DNNClassifier(
    feature_columns=my_feature_columns, hidden_units=[8, 6], n_classes=3,
    optimizer=tf.train.AdagradOptimizer(0.1), activation_fn=tf.nn.tanh,
    model_dir=tempfile.mkdtemp(),
    warm_start_from=tf.estimator.WarmStartSettings(write_checkpoint(), '.*dnn.*'))
for steps in (1, 5, 9):
    classifier.train(input_fn=lambda: train_input_fn(train_x, train_y, 15), steps=steps)
    result = classifier.evaluate(input_fn=lambda: eval_input_fn(train_x, train_y, 15))
    print('step {global_step}: accuracy {accuracy:.6g} average loss {average_loss:.6g} '
          'loss {loss:.6g}'.format(**result))
predict_x = {k: v[:4] for k, v in train_x.items()}
for pred in classifier.predict(input_fn=lambda: eval_input_fn(predict_x, None, 4)):
    class_id = pred['class_ids'][0]
    print(class_id, ' '.join('%.6g' % p for p in pred['probabilities']))
print(sorted(classifier.get_variable_names()))
