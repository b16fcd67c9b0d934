"""Skip-gram with NCE on a text in the file.  Written as for TensorFlow 0.8."""
from __future__ import absolute_import
from __future__ import print_function

import collections

import numpy as np
import tensorflow as tf

text = """the quick brown fox jumps over the lazy dog while the other dog watches the fox
and the brown bear eats honey over there as the bees fly around the lazy bear and the dog
barks at the bees who do not care about the quick fox or the slow dog"""
words = text.split()
vocabulary_size = 25


def build_dataset(words):
  count = [['UNK', -1]]
  count.extend(sorted(collections.Counter(words).most_common(), key=lambda p: (-p[1], p[0]))[
      :vocabulary_size - 1])
  dictionary = dict()
  for word, _ in count:
    dictionary[word] = len(dictionary)
  data = [dictionary.get(word, 0) for word in words]
  return data, count, dictionary, dict(zip(dictionary.values(), dictionary.keys()))


data, count, dictionary, reverse_dictionary = build_dataset(words)
data_index = 0


def generate_batch(batch_size, window):
  global data_index
  batch = np.ndarray(shape=(batch_size), dtype=np.int32)
  labels = np.ndarray(shape=(batch_size, 1), dtype=np.int32)
  for i in range(batch_size):
    batch[i] = data[data_index % len(data)]
    labels[i, 0] = data[(data_index + 1 + i % window) % len(data)]
    data_index += 1
  return batch, labels


batch_size, embedding_size, num_sampled = 16, 8, 6
rng = np.random.RandomState(22)
valid_examples = np.array([1, 2, 3])

graph = tf.Graph()
with graph.as_default():
  train_inputs = tf.placeholder(tf.int32, shape=[batch_size])
  train_labels = tf.placeholder(tf.int32, shape=[batch_size, 1])
  valid_dataset = tf.constant(valid_examples, dtype=tf.int32)
  sampled = tf.placeholder(tf.int64, shape=[num_sampled])
  with tf.device('/cpu:0'):
    embeddings = tf.Variable(
        rng.uniform(-1.0, 1.0, (vocabulary_size, embedding_size)).astype('float32'))
    embed = tf.nn.embedding_lookup(embeddings, train_inputs)
    nce_weights = tf.Variable(
        (rng.randn(vocabulary_size, embedding_size) / 3).astype('float32'))
    nce_biases = tf.Variable(tf.zeros([vocabulary_size]))
  frequency = 1.0 / vocabulary_size * num_sampled
  loss = tf.reduce_mean(
      tf.nn.nce_loss(nce_weights, nce_biases, embed, train_labels,
                     num_sampled, vocabulary_size,
                     sampled_values=(sampled,
                                     tf.fill([batch_size, 1], frequency),
                                     tf.fill([num_sampled], frequency))))
  optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
  norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keep_dims=True))
  normalized_embeddings = embeddings / norm
  valid_embeddings = tf.nn.embedding_lookup(normalized_embeddings, valid_dataset)
  similarity = tf.matmul(valid_embeddings, normalized_embeddings, transpose_b=True)
  init = tf.initialize_all_variables()

with tf.Session(graph=graph) as session:
  init.run()
  for step in range(8):
    batch_inputs, batch_labels = generate_batch(batch_size, 2)
    feed_dict = {train_inputs: batch_inputs, train_labels: batch_labels,
                 sampled: rng.choice(vocabulary_size, num_sampled, replace=False)}
    _, loss_val = session.run([optimizer, loss], feed_dict=feed_dict)
    print("loss at step %d: %.6g" % (step, loss_val))
  sim = similarity.eval()
  for i in range(3):
    nearest = (-sim[i, :]).argsort()[1:4]
    print("Nearest to %s: %s" % (reverse_dictionary[valid_examples[i]],
                                 ", ".join(reverse_dictionary[k] for k in nearest)))
  final_embeddings = normalized_embeddings.eval()
  print("%.6g" % final_embeddings.sum())
