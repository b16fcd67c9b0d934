"""A Transformer fine-tuned by a TPUEstimator, on a CPU.  Written as for TensorFlow 1.12.

A classifier begins with the checkpoint of an encoder, reads its examples from records, trains with
weight decay and warmup, and evaluates and predicts in fixed batches.
"""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import collections
import os
import re
import tempfile

import numpy as np
import six
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS

flags.DEFINE_string("output_dir", None, "Where the model is written.")
flags.DEFINE_integer("max_seq_length", 6, "Tokens of an example.")
flags.DEFINE_bool("do_train", True, "Whether to train.")
flags.DEFINE_bool("do_eval", True, "Whether to evaluate.")
flags.DEFINE_integer("train_batch_size", 8, "Examples of a step.")
flags.DEFINE_integer("eval_batch_size", 4, "Examples of a batch as the model is evaluated.")
flags.DEFINE_integer("predict_batch_size", 4, "Examples of a batch to predict.")
flags.DEFINE_float("learning_rate", 0.02, "The first learning rate.")
flags.DEFINE_float("warmup_proportion", 0.25, "Part of training in which the rate grows.")
flags.DEFINE_integer("save_checkpoints_steps", 4, "Steps between checkpoints.")
flags.DEFINE_integer("iterations_per_loop", 2, "Steps of one call.")
flags.DEFINE_bool("use_tpu", False, "Whether there is a TPU.")
tf.flags.DEFINE_string("tpu_name", None, "The TPU.")
tf.flags.DEFINE_string("master", None, "The master of sessions.")
flags.DEFINE_integer("num_tpu_cores", 8, "Cores, where there is a TPU.")

VOCABULARY, HIDDEN, HEADS, LABELS, STEPS = 11, 8, 2, 3, 8


def shape_of(tensor):
  static = tensor.shape.as_list()
  dynamic = tf.shape(tensor)
  return [dynamic[i] if n is None else n for i, n in enumerate(static)]


def initializer(shape, dtype=tf.float32, partition_info=None):
  rng = np.random.RandomState(int(np.prod([int(d) for d in shape])))
  return tf.constant(0.3 * rng.randn(*[int(d) for d in shape]), dtype)


def layer_norm(x, name=None):
  return tf.contrib.layers.layer_norm(
      inputs=x, begin_norm_axis=-1, begin_params_axis=-1, scope=name)


def gelu(x):
  return x * 0.5 * (1.0 + tf.erf(x / tf.sqrt(2.0)))


def encode(ids, mask, segments, one_hot):
  """The encoder: its first token's state, projected."""
  batch, length = shape_of(ids)
  with tf.variable_scope("encoder"):
    with tf.variable_scope("embeddings"):
      table = tf.get_variable("word_embeddings", [VOCABULARY, HIDDEN], initializer=initializer)
      flat = tf.reshape(tf.expand_dims(ids, axis=[-1]), [-1])
      if one_hot:
        x = tf.matmul(tf.one_hot(flat, depth=VOCABULARY), table)
      else:
        x = tf.gather(table, flat)
      x = tf.reshape(x, [batch, length, HIDDEN])
      kinds = tf.get_variable("token_type_embeddings", [2, HIDDEN], initializer=initializer)
      of_kinds = tf.matmul(tf.one_hot(tf.reshape(segments, [-1]), depth=2), kinds)
      x += tf.reshape(of_kinds, [batch, length, HIDDEN])
      fits = tf.assert_less_equal(length, 9)
      with tf.control_dependencies([fits]):
        places = tf.get_variable("position_embeddings", [9, HIDDEN], initializer=initializer)
        x += tf.expand_dims(tf.slice(places, [0, 0], [length, -1]), 0)
      x = layer_norm(x)
    with tf.variable_scope("layer_0"):
      with tf.variable_scope("attention"):
        size = HIDDEN // HEADS

        def project(name):
          y = tf.layers.dense(tf.reshape(x, [-1, HIDDEN]), HIDDEN, name=name,
                              kernel_initializer=initializer)
          return tf.transpose(tf.reshape(y, [batch, length, HEADS, size]), [0, 2, 1, 3])

        scores = tf.matmul(project("query"), project("key"), transpose_b=True)
        scores = tf.multiply(scores, 1.0 / size ** 0.5)
        both = tf.ones(tf.stack([batch, length, 1])) * tf.cast(
            tf.reshape(mask, [batch, 1, length]), tf.float32)
        scores += (1.0 - tf.expand_dims(both, axis=[1])) * -10000.0
        context = tf.transpose(tf.matmul(tf.nn.softmax(scores), project("value")), [0, 2, 1, 3])
        context = tf.reshape(context, [batch, length, HIDDEN])
        context = tf.layers.dense(context, HIDDEN, kernel_initializer=initializer)
        x = layer_norm(context + x)
      with tf.variable_scope("output"):
        middle = tf.layers.dense(x, 2 * HIDDEN, activation=gelu, name="dense_in",
                                 kernel_initializer=initializer)
        x = layer_norm(tf.layers.dense(middle, HIDDEN, kernel_initializer=initializer) + x)
    with tf.variable_scope("pooler"):
      first = tf.squeeze(x[:, 0:1, :], axis=1)
      return tf.layers.dense(first, HIDDEN, activation=tf.tanh, kernel_initializer=initializer)


class DecayingAdam(tf.train.Optimizer):
  """Adam without its correction of bias, with weight decay beside the gradient."""

  def __init__(self, learning_rate, decay, beta_1=0.9, beta_2=0.999, epsilon=1e-6,
               exclude=None, name="DecayingAdam"):
    super(DecayingAdam, self).__init__(False, name)
    self.learning_rate, self.decay, self.epsilon = learning_rate, decay, epsilon
    self.beta_1, self.beta_2, self.exclude = beta_1, beta_2, exclude

  def apply_gradients(self, grads_and_vars, global_step=None, name=None):
    assignments = []
    for (grad, param) in grads_and_vars:
      if grad is None or param is None:
        continue
      param_name = self._name_of(param.name)
      m = tf.get_variable(name=param_name + "/adam_m", shape=param.shape.as_list(),
                          dtype=tf.float32, trainable=False,
                          initializer=tf.zeros_initializer())
      v = tf.get_variable(name=param_name + "/adam_v", shape=param.shape.as_list(),
                          dtype=tf.float32, trainable=False,
                          initializer=tf.zeros_initializer())
      next_m = tf.multiply(self.beta_1, m) + tf.multiply(1.0 - self.beta_1, grad)
      next_v = tf.multiply(self.beta_2, v) + tf.multiply(1.0 - self.beta_2, tf.square(grad))
      update = next_m / (tf.sqrt(next_v) + self.epsilon)
      if self._decays(param_name):
        update += self.decay * param
      next_param = param - self.learning_rate * update
      assignments.extend([param.assign(next_param), m.assign(next_m), v.assign(next_v)])
    return tf.group(*assignments, name=name)

  def _decays(self, param_name):
    return not any(re.search(r, param_name) is not None for r in self.exclude or ())

  def _name_of(self, param_name):
    found = re.match("^(.*):\\d+$", param_name)
    return found.group(1) if found is not None else param_name


def create_optimizer(loss, init_lr, num_train_steps, num_warmup_steps, use_tpu):
  global_step = tf.train.get_or_create_global_step()
  rate = tf.constant(value=init_lr, shape=[], dtype=tf.float32)
  rate = tf.train.polynomial_decay(rate, global_step, num_train_steps, end_learning_rate=0.0,
                                   power=1.0, cycle=False)
  if num_warmup_steps:
    now = tf.cast(tf.cast(global_step, tf.int32), tf.float32)
    warmup = tf.constant(num_warmup_steps, dtype=tf.float32)
    is_warmup = tf.cast(now < warmup, tf.float32)
    rate = (1.0 - is_warmup) * rate + is_warmup * init_lr * now / warmup
  optimizer = DecayingAdam(rate, 0.01, exclude=["LayerNorm", "layer_norm", "bias"])
  if use_tpu:
    optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
  tvars = tf.trainable_variables()
  grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), clip_norm=1.0)
  train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
  # This optimizer does not count, so that the step is counted here.
  return tf.group(train_op, [global_step.assign(global_step + 1)])


def assignment_map(tvars, checkpoint):
  """Which variables of the checkpoint the model's begin with."""
  by_name = collections.OrderedDict()
  for var in tvars:
    by_name[re.match("^(.*):\\d+$", var.name).group(1)] = var
  found, initialized = collections.OrderedDict(), {}
  for name, _ in tf.train.list_variables(checkpoint):
    if name not in by_name:
      continue
    found[name] = name
    initialized[name] = initialized[name + ":0"] = 1
  return found, initialized


def model_fn_builder(checkpoint, num_train_steps, num_warmup_steps, use_tpu):

  def model_fn(features, labels, mode, params):
    for name in sorted(features.keys()):
      tf.logging.info("  name = %s, shape = %s" % (name, features[name].shape))
    label_ids, is_real = features["label_ids"], tf.cast(features["is_real_example"], tf.float32)
    output = encode(features["input_ids"], features["input_mask"], features["segment_ids"],
                    one_hot=use_tpu)
    weights = tf.get_variable("output_weights", [LABELS, HIDDEN], initializer=initializer)
    bias = tf.get_variable("output_bias", [LABELS], initializer=tf.zeros_initializer())
    with tf.variable_scope("loss"):
      if mode == tf.estimator.ModeKeys.TRAIN:
        output = tf.nn.dropout(output, keep_prob=1.0)
      logits = tf.nn.bias_add(tf.matmul(output, weights, transpose_b=True), bias)
      probabilities = tf.nn.softmax(logits, axis=-1)
      log_probs = tf.nn.log_softmax(logits, axis=-1)
      one_hot_labels = tf.one_hot(label_ids, depth=LABELS, dtype=tf.float32)
      per_example = -tf.reduce_sum(one_hot_labels * log_probs, axis=-1)
      total_loss = tf.reduce_mean(per_example)

    tvars = tf.trainable_variables()
    found, initialized = assignment_map(tvars, checkpoint)
    scaffold_fn = None
    if use_tpu:
      def tpu_scaffold():
        tf.train.init_from_checkpoint(checkpoint, found)
        return tf.train.Scaffold()
      scaffold_fn = tpu_scaffold
    else:
      tf.train.init_from_checkpoint(checkpoint, found)
    print("%s: batches of %d, %d of %d variables begin with the checkpoint" % (
        mode, params["batch_size"], len(found), len(tvars)))

    if mode == tf.estimator.ModeKeys.TRAIN:
      train_op = create_optimizer(total_loss, FLAGS.learning_rate, num_train_steps,
                                  num_warmup_steps, use_tpu)

      def host_call_fn(gs, loss):
        return tf.identity(loss[0] + 0.0 * tf.cast(gs[0], tf.float32))

      step = tf.reshape(tf.train.get_global_step(), [1])
      return tf.contrib.tpu.TPUEstimatorSpec(
          mode=mode, loss=total_loss, train_op=train_op, scaffold_fn=scaffold_fn,
          host_call=(host_call_fn, [step, tf.reshape(total_loss, [1])]))
    if mode == tf.estimator.ModeKeys.EVAL:
      def metric_fn(per_example, label_ids, logits, is_real):
        predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
        return {
            "eval_accuracy": tf.metrics.accuracy(
                labels=label_ids, predictions=predictions, weights=is_real),
            "eval_loss": tf.metrics.mean(values=per_example, weights=is_real),
        }

      return tf.contrib.tpu.TPUEstimatorSpec(
          mode=mode, loss=total_loss, scaffold_fn=scaffold_fn,
          eval_metrics=(metric_fn, [per_example, label_ids, logits, is_real]))
    return tf.contrib.tpu.TPUEstimatorSpec(
        mode=mode, predictions={"probabilities": probabilities}, scaffold_fn=scaffold_fn)

  return model_fn


def write_examples(path, number, seed):
  rng = np.random.RandomState(seed)
  writer = tf.python_io.TFRecordWriter(path)

  def ints(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[int(v) for v in values]))

  for i in six.moves.range(number):
    length = rng.randint(3, FLAGS.max_seq_length + 1)
    mask = [1] * length + [0] * (FLAGS.max_seq_length - length)
    ids = rng.randint(1, VOCABULARY, size=FLAGS.max_seq_length) * mask
    features = collections.OrderedDict()
    features["input_ids"] = ints(ids)
    features["input_mask"] = ints(mask)
    features["segment_ids"] = ints([0, 0] + [1] * (FLAGS.max_seq_length - 2))
    features["label_ids"] = ints([ids[1] % LABELS])
    features["is_real_example"] = ints([int(i < 10)])
    example = tf.train.Example(features=tf.train.Features(feature=features))
    writer.write(example.SerializeToString())
  writer.close()


def input_fn_builder(path, is_training, drop_remainder):
  length = FLAGS.max_seq_length
  name_to_features = {
      "input_ids": tf.FixedLenFeature([length], tf.int64),
      "input_mask": tf.FixedLenFeature([length], tf.int64),
      "segment_ids": tf.FixedLenFeature([length], tf.int64),
      "label_ids": tf.FixedLenFeature([], tf.int64),
      "is_real_example": tf.FixedLenFeature([], tf.int64),
  }

  def decode(record):
    example = tf.parse_single_example(record, name_to_features)
    for name in list(example.keys()):
      if example[name].dtype == tf.int64:
        example[name] = tf.to_int32(example[name])
    return example

  def input_fn(params):
    data = tf.data.TFRecordDataset(path)
    if is_training:
      data = data.repeat()
    return data.apply(tf.contrib.data.map_and_batch(
        decode, batch_size=params["batch_size"], drop_remainder=drop_remainder))

  return input_fn


def write_encoder(path):
  """A checkpoint of the encoder, as if it had been trained before."""
  with tf.Graph().as_default(), tf.Session() as sess:
    ones = tf.ones([1, FLAGS.max_seq_length], tf.int32)
    encode(ones, ones, 0 * ones, one_hot=False)
    sess.run(tf.global_variables_initializer())
    sess.run([v.assign(v * 0.9 + 0.01) for v in tf.trainable_variables()])
    return tf.train.Saver().save(sess, path)


class Losses(tf.train.SessionRunHook):

  def before_run(self, run_context):
    graph = run_context.session.graph
    return tf.train.SessionRunArgs(graph.get_collection(tf.GraphKeys.LOSSES)[-1])

  def after_run(self, run_context, run_values):
    print("loss %.6g" % run_values.results)


def main(_):
  tf.logging.set_verbosity(tf.logging.ERROR)
  output_dir = FLAGS.output_dir or tempfile.mkdtemp()
  tf.gfile.MakeDirs(output_dir)
  checkpoint = write_encoder(os.path.join(tempfile.mkdtemp(), "encoder.ckpt"))
  train_file = os.path.join(output_dir, "train.tf_record")
  other_file = os.path.join(output_dir, "eval.tf_record")
  write_examples(train_file, 24, seed=1)
  write_examples(other_file, 12, seed=2)

  tpu_cluster_resolver = None
  if FLAGS.use_tpu and FLAGS.tpu_name:
    tpu_cluster_resolver = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name)
  is_per_host = tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2
  run_config = tf.contrib.tpu.RunConfig(
      cluster=tpu_cluster_resolver,
      master=FLAGS.master,
      model_dir=output_dir,
      save_checkpoints_steps=FLAGS.save_checkpoints_steps,
      tpu_config=tf.contrib.tpu.TPUConfig(
          iterations_per_loop=FLAGS.iterations_per_loop,
          num_shards=FLAGS.num_tpu_cores,
          per_host_input_for_training=is_per_host))
  model_fn = model_fn_builder(checkpoint, STEPS, int(STEPS * FLAGS.warmup_proportion),
                              FLAGS.use_tpu)
  estimator = tf.contrib.tpu.TPUEstimator(
      use_tpu=FLAGS.use_tpu,
      model_fn=model_fn,
      config=run_config,
      train_batch_size=FLAGS.train_batch_size,
      eval_batch_size=FLAGS.eval_batch_size,
      predict_batch_size=FLAGS.predict_batch_size)

  if FLAGS.do_train:
    estimator.train(input_fn=input_fn_builder(train_file, True, True), max_steps=STEPS,
                    hooks=[Losses()])
  if FLAGS.do_eval:
    result = estimator.evaluate(input_fn=input_fn_builder(other_file, False, FLAGS.use_tpu),
                                steps=None)
    for key in sorted(result.keys()):
      print("%s = %.6g" % (key, result[key]))
  found = estimator.predict(input_fn=input_fn_builder(other_file, False, FLAGS.use_tpu))
  for (i, prediction) in enumerate(found):
    print(i, " ".join("%.5g" % p for p in prediction["probabilities"]))
  names = estimator.get_variable_names()
  print(len(names), names[0], [name for name in names if "adam" not in name][-2:])


if __name__ == "__main__":
  tf.app.run()
