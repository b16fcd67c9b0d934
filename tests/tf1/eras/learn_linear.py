"""tf.contrib.learn: a LinearClassifier with an input_fn.  Written as for TensorFlow 0.12."""
from __future__ import absolute_import, division, print_function

import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(75)
LABEL_COLUMN = "label"
frame = {
    "age": rng.randint(18, 70, 40).astype(np.float32),
    "hours": rng.uniform(5, 60, 40).astype(np.float32),
    "gender": np.array(["Female", "Male"])[rng.randint(0, 2, 40)],
    "occupation": np.array(["Sales", "Craft", "Tech"])[rng.randint(0, 3, 40)],
}
frame[LABEL_COLUMN] = (frame["hours"] + 10 * (frame["occupation"] == "Tech") > 35).astype(int)


def input_fn():
    continuous_cols = {k: tf.constant(frame[k]) for k in ("age", "hours")}
    categorical_cols = {
        k: tf.SparseTensor(indices=[[i, 0] for i in range(40)], values=list(frame[k]),
                           dense_shape=[40, 1])
        for k in ("gender", "occupation")}
    feature_cols = dict(continuous_cols)
    feature_cols.update(categorical_cols)
    return feature_cols, tf.constant(frame[LABEL_COLUMN])


gender = tf.contrib.layers.sparse_column_with_keys(column_name="gender", keys=["Female", "Male"])
occupation = tf.contrib.layers.sparse_column_with_hash_bucket("occupation", hash_bucket_size=50)
age = tf.contrib.layers.real_valued_column("age", normalizer=lambda x: x / 70.0)
hours = tf.contrib.layers.real_valued_column("hours", normalizer=lambda x: x / 60.0)
crossed = tf.contrib.layers.crossed_column([gender, occupation], hash_bucket_size=100)
m = tf.contrib.learn.LinearClassifier(
    model_dir=tempfile.mkdtemp(),
    feature_columns=[gender, occupation, age, hours, crossed],
    optimizer=tf.train.FtrlOptimizer(learning_rate=0.2, l1_regularization_strength=0.05,
                                     l2_regularization_strength=0.1))
for _ in range(2):
    m.fit(input_fn=input_fn, steps=5)
    results = m.evaluate(input_fn=input_fn, steps=1)
    for key in ("accuracy", "auc", "global_step", "loss"):
        print("%s: %.6g" % (key, results[key]))
predictions = list(m.predict_proba(input_fn=input_fn))
for p in predictions[:3]:
    print(" ".join("%.6g" % v for v in p))
