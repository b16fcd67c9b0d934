"""TFRecords through queues and a Coordinator.  Written as for TensorFlow 1.0."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
rng = np.random.RandomState(44)


def _int64_feature(value):
  return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def _bytes_feature(value):
  return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def convert_to(count, name):
  filename = os.path.join(folder, name + '.tfrecords')
  print('Writing', os.path.basename(filename))
  writer = tf.python_io.TFRecordWriter(filename)
  for index in range(count):
    label = index % 3
    image = (rng.randint(0, 100, (6, 6, 1)) + 50 * label).astype(np.uint8)
    example = tf.train.Example(features=tf.train.Features(feature={
        'height': _int64_feature(6),
        'label': _int64_feature(label),
        'weights': tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, label])),
        'image_raw': _bytes_feature(image.tostring())}))
    writer.write(example.SerializeToString())
  writer.close()
  return filename


def read_and_decode(filename_queue):
  reader = tf.TFRecordReader()
  _, serialized_example = reader.read(filename_queue)
  features = tf.parse_single_example(
      serialized_example,
      features={
          'image_raw': tf.FixedLenFeature([], tf.string),
          'label': tf.FixedLenFeature([], tf.int64),
          'weights': tf.VarLenFeature(tf.float32),
          'missing': tf.FixedLenFeature([], tf.float32, default_value=0.25),
      })
  image = tf.decode_raw(features['image_raw'], tf.uint8)
  image.set_shape([36])
  image = tf.cast(image, tf.float32) * (1. / 255) - 0.5
  label = tf.cast(features['label'], tf.int32)
  weight = tf.reduce_sum(features['weights'].values) + features['missing']
  return image, label, weight


def run_training(filenames):
  with tf.Graph().as_default():
    with tf.name_scope('input'):
      filename_queue = tf.train.string_input_producer(filenames, num_epochs=2, shuffle=False)
      image, label, weight = read_and_decode(filename_queue)
      images, labels, weights = tf.train.batch([image, label, weight], batch_size=6,
                                               capacity=30, num_threads=1)
    W = tf.Variable(0.1 * rng.randn(36, 3).astype(np.float32), name='W')
    logits = tf.matmul(images, W)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits, weights)
    train_op = tf.train.GradientDescentOptimizer(0.3).minimize(loss)
    init_op = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
    sess = tf.Session()
    sess.run(init_op)
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    step = 0
    try:
      while not coord.should_stop():
        _, loss_value, ys = sess.run([train_op, loss, labels])
        print('Step %d: loss = %.6g %s' % (step, loss_value, ys.tolist()))
        step += 1
    except tf.errors.OutOfRangeError:
      print('Done training for %d epochs, %d steps.' % (2, step))
    finally:
      coord.request_stop()
    coord.join(threads)
    sess.close()


files = [convert_to(8, 'first'), convert_to(7, 'second')]
run_training(files)
print(sum(1 for _ in tf.python_io.tf_record_iterator(files[1])))
