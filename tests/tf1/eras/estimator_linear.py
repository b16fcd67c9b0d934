"""LinearClassifier and LinearRegressor of feature columns.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(52)
n = 60
age = rng.randint(17, 80, n).astype(np.float32)
hours = rng.uniform(10, 60, n).astype(np.float32)
job = np.array(['clerk', 'farmer', 'doctor'])[rng.randint(0, 3, n)]
rich = ((hours > 35) & (job != 'farmer')).astype(np.int32)

age_column = tf.feature_column.numeric_column('age', normalizer_fn=lambda x: (x - 45) / 20)
age_buckets = tf.feature_column.bucketized_column(
    tf.feature_column.numeric_column('age'), boundaries=[25, 35, 50, 65])
hours_column = tf.feature_column.numeric_column('hours')
job_column = tf.feature_column.categorical_column_with_vocabulary_list(
    'job', ['clerk', 'farmer', 'doctor'])
crossed = tf.feature_column.crossed_column([age_buckets, 'job'], hash_bucket_size=20)


def input_fn(labels, epochs):
    return tf.estimator.inputs.numpy_input_fn(
        {'age': age, 'hours': hours, 'job': job}, labels, batch_size=20, num_epochs=epochs,
        shuffle=False)


def show(metrics):
    for key in sorted(metrics):
        if not key.startswith('auc_precision'):
            print('  %s %.6g' % (key, metrics[key]))


classifier = tf.estimator.LinearClassifier(
    feature_columns=[age_column, age_buckets, job_column, crossed], model_dir=tempfile.mkdtemp(),
    optimizer=tf.train.FtrlOptimizer(0.2, l1_regularization_strength=0.01))
for _ in range(2):
    classifier.train(input_fn(rich, None), steps=4)
    print('classifier')
    show(classifier.evaluate(input_fn(rich, 1)))
for p in list(classifier.predict(input_fn(None, 1)))[:3]:
    print(p['class_ids'][0], p['classes'][0].decode(), '%.6g' % p['logistic'][0])

regressor = tf.estimator.LinearRegressor(
    [tf.feature_column.numeric_column('hours', normalizer_fn=lambda h: h / 60.0), job_column],
    model_dir=tempfile.mkdtemp(), optimizer=tf.train.GradientDescentOptimizer(0.1))
regressor.train(input_fn(hours / 10, None), steps=6)
print('regressor')
show(regressor.evaluate(input_fn(hours / 10, 1)))
for name in regressor.get_variable_names():
    value = regressor.get_variable_value(name)
    print(name, ' '.join('%.6g' % v for v in np.ravel(value)))
