"""SavedModel: the builder with signatures, simple_save, the loader.  As for TensorFlow 1.4."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.saved_model import builder as saved_model_builder
from tensorflow.python.saved_model import signature_constants
from tensorflow.python.saved_model import tag_constants

rng = np.random.RandomState(55)
export_path = os.path.join(tempfile.mkdtemp(), '1')

with tf.Graph().as_default(), tf.Session() as sess:
    serialized = tf.placeholder(tf.string, name='tf_example')
    feature_configs = {'x': tf.FixedLenFeature(shape=[4], dtype=tf.float32)}
    x = tf.identity(tf.parse_example(serialized, feature_configs)['x'], name='x')
    y_ = tf.placeholder('float', shape=[None, 3])
    w = tf.Variable(rng.randn(4, 3).astype(np.float32))
    y = tf.nn.softmax(tf.matmul(x, w), name='y')
    cross_entropy = -tf.reduce_sum(y_ * tf.log(y))
    train_step = tf.train.GradientDescentOptimizer(0.1).minimize(cross_entropy)
    values, indices = tf.nn.top_k(y, 2)
    table = tf.contrib.lookup.index_to_string_table_from_tensor(tf.constant(['a', 'b', 'c']))
    classes = table.lookup(tf.to_int64(indices))
    sess.run(tf.global_variables_initializer())

    def example(row):
        feature = tf.train.Feature(float_list=tf.train.FloatList(value=row))
        return tf.train.Example(features=tf.train.Features(
            feature={'x': feature})).SerializeToString()

    rows = rng.randn(5, 4)
    examples = [example(r) for r in rows]
    for i in range(3):
        _, value = sess.run([train_step, cross_entropy],
                            {serialized: examples, y_: np.eye(3)[[0, 1, 2, 0, 1]]})
        print('training %.6g' % value)
    builder = saved_model_builder.SavedModelBuilder(export_path)
    classification = tf.saved_model.signature_def_utils.build_signature_def(
        inputs={signature_constants.CLASSIFY_INPUTS:
                tf.saved_model.utils.build_tensor_info(serialized)},
        outputs={signature_constants.CLASSIFY_OUTPUT_CLASSES:
                 tf.saved_model.utils.build_tensor_info(classes),
                 signature_constants.CLASSIFY_OUTPUT_SCORES:
                 tf.saved_model.utils.build_tensor_info(values)},
        method_name=signature_constants.CLASSIFY_METHOD_NAME)
    prediction = tf.saved_model.signature_def_utils.predict_signature_def({'images': x},
                                                                          {'scores': y})
    builder.add_meta_graph_and_variables(
        sess, [tag_constants.SERVING],
        signature_def_map={
            'predict_images': prediction,
            signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: classification},
        legacy_init_op=tf.group(tf.tables_initializer(), name='legacy_init_op'))
    builder.save()
    print(sorted(os.listdir(export_path)))

with tf.Graph().as_default(), tf.Session() as sess:
    meta = tf.saved_model.loader.load(sess, [tag_constants.SERVING], export_path)
    for key in sorted(meta.signature_def):
        signature = meta.signature_def[key]
        print(key, signature.method_name, sorted(signature.inputs), sorted(signature.outputs))
    signature = meta.signature_def['predict_images']
    scores = sess.run(signature.outputs['scores'].name,
                      {signature.inputs['images'].name: rows})
    print(' '.join('%.6g' % v for v in scores[0]))
    default = meta.signature_def[signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
    names = sess.run(default.outputs['classes'].name, {default.inputs['inputs'].name: examples})
    print([[c.decode() for c in row] for row in names])
