"""tf.metrics over batches, reset between two passes.  Written as for TensorFlow 1.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(69)
labels = tf.placeholder(tf.int64, [None])
scores = tf.placeholder(tf.float32, [None])
weights = tf.placeholder(tf.float32, [None])
predicted = tf.to_int64(scores > 0.5)
logits = tf.stack([1 - scores, scores, tf.abs(scores - 0.5)], axis=1)

with tf.variable_scope('metrics'):
    metrics = {
        'accuracy': tf.metrics.accuracy(labels, predicted, weights=weights),
        'precision': tf.metrics.precision(labels, predicted),
        'recall': tf.metrics.recall(labels, predicted),
        'auc': tf.metrics.auc(labels, scores, num_thresholds=50),
        'pr': tf.metrics.auc(labels, scores, curve='PR', num_thresholds=50,
                             summation_method='careful_interpolation'),
        'mean': tf.metrics.mean(scores, weights),
        'rmse': tf.metrics.root_mean_squared_error(tf.to_float(labels), scores),
        'mae': tf.metrics.mean_absolute_error(tf.to_float(labels), scores),
        'miou': tf.metrics.mean_iou(labels, predicted, 2),
        'top2': tf.metrics.recall_at_k(labels, logits, 2),
        'tp': tf.metrics.true_positives(labels, predicted),
        'fn': tf.metrics.false_negatives(labels, predicted),
        'below': tf.metrics.percentage_below(scores, 0.4),
        'cosine': tf.metrics.mean_cosine_distance(
            tf.nn.l2_normalize(logits, 1), tf.nn.l2_normalize(logits[:, ::-1], 1), 1),
        'sensitivity': tf.metrics.sensitivity_at_specificity(labels, scores, 0.6),
    }
values = {k: v[0] for k, v in metrics.items()}
updates = {k: v[1] for k, v in metrics.items()}
local = tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES, scope='metrics')
reset = tf.variables_initializer(local)
confusion = tf.confusion_matrix(labels, predicted, 2)
print(len(local), len(tf.global_variables()))

with tf.Session() as sess:
    for run in range(2):
        sess.run(reset)
        total = 0
        for batch in range(3):
            y = rng.randint(0, 2, 12)
            feed = {labels: y, scores: np.clip(0.3 * y + 0.7 * rng.rand(12), 0, 1),
                    weights: rng.randint(0, 3, 12)}
            sess.run(list(updates.values()), feed)
            total = total + sess.run(confusion, feed)
            print('running accuracy %.6g' % sess.run(values['accuracy']))
        result = sess.run(values)
        for key in sorted(result):
            print(key, ' '.join('%.6g' % v for v in np.ravel(result[key])))
        print(total.tolist())
