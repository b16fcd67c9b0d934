"""Words to ids by tables and a VocabularyProcessor.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib import learn, lookup

docs = ["the cat sat on the mat", "a dog ate my homework", "the dog sat on a cat", "unheard words"]
vocab_processor = learn.preprocessing.VocabularyProcessor(6, min_frequency=0)
x = np.array(list(vocab_processor.fit_transform(docs[:3])))
print(x.tolist(), len(vocab_processor.vocabulary_))
print(np.array(list(vocab_processor.transform(docs[3:]))).tolist())
path = os.path.join(tempfile.mkdtemp(), 'vocab')
vocab_processor.save(path)
again = learn.preprocessing.VocabularyProcessor.restore(path)
print(list(again.reverse(x[:1])))

vocab_file = os.path.join(tempfile.mkdtemp(), 'vocab.txt')
with tf.gfile.GFile(vocab_file, 'w') as f:
    f.write('\n'.join(['<unk>', 'the', 'cat', 'dog', 'sat', 'on']))
table = lookup.index_table_from_file(vocab_file, default_value=0)
oov = lookup.index_table_from_tensor(tf.constant(['the', 'cat']), num_oov_buckets=3)
reverse = lookup.index_to_string_table_from_file(vocab_file, default_value='<unk>')
hash_table = lookup.HashTable(
    lookup.KeyValueTensorInitializer(['a', 'b'], [1.5, 2.5]), default_value=-1.0)
lines = tf.placeholder(tf.string, [None])
tokens = tf.string_split(lines)
dense = tf.sparse_tensor_to_dense(tokens, default_value='')
ids = table.lookup(dense)
lengths = tf.reduce_sum(tf.to_int32(tf.not_equal(dense, '')), axis=1)
embedding = tf.get_variable('embedding', initializer=np.random.RandomState(79).randn(
    6, 3).astype(np.float32))
combined = tf.nn.embedding_lookup_sparse(
    embedding, tf.SparseTensor(tokens.indices, table.lookup(tokens.values), tokens.dense_shape),
    None, combiner='mean')
joined = tf.string_join([tf.reduce_join(dense, 1, separator='_'), tf.as_string(lengths)], ':')
hashed = tf.string_to_hash_bucket_fast(dense[:, 0], 100)
numbers = tf.string_to_number(['1.5', '-2e3'])
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    feed = {lines: docs}
    print(sess.run(ids, feed).tolist(), sess.run(lengths, feed).tolist())
    print(sess.run(oov.lookup(dense[0]), feed).tolist())
    print([w.decode() for w in sess.run(reverse.lookup(ids), feed)[0]])
    print(sess.run(hash_table.lookup(tf.constant(['b', 'z', 'a']))).tolist())
    for row in sess.run(combined, feed):
        print(' '.join('%.6g' % v for v in row))
    print([j.decode() for j in sess.run(joined, feed)])
    print(sess.run(hashed, feed).tolist(), sess.run(numbers).tolist())
    print(sess.run(table.size()))
