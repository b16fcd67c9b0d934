"""word2vec with noise-contrastive estimation, as the talk writes it; the noise words are given."""

import math


def build(tf, np):
    draw = np.random.RandomState(11)
    vocabulary_size, embedding_size, batch_size, num_sampled = 60, 8, 12, 5
    train_inputs = tf.placeholder(tf.int32, shape=[batch_size])
    train_labels = tf.placeholder(tf.int32, shape=[batch_size, 1])
    sampled = tf.placeholder(tf.int64, shape=[num_sampled])
    valid_dataset = tf.constant([3, 1, 4], dtype=tf.int32)
    with tf.device("/cpu:0"):
        embeddings = tf.Variable(tf.random_uniform([vocabulary_size, embedding_size], -1.0, 1.0))
        embed = tf.nn.embedding_lookup(embeddings, train_inputs)
        nce_weights = tf.Variable(
            tf.truncated_normal(
                [vocabulary_size, embedding_size], stddev=1.0 / math.sqrt(embedding_size)
            )
        )
        nce_biases = tf.Variable(tf.zeros([vocabulary_size]))
    expected = tf.constant(np.full([batch_size, 1], 0.3, "float32"))
    values = (sampled, expected, tf.constant(np.full([num_sampled], 0.2, "float32")))
    loss = tf.reduce_mean(
        tf.nn.nce_loss(
            weights=nce_weights,
            biases=nce_biases,
            labels=train_labels,
            inputs=embed,
            num_sampled=num_sampled,
            num_classes=vocabulary_size,
            sampled_values=values,
        )
    )
    optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keep_dims=True))
    normalized_embeddings = embeddings / norm
    valid = tf.nn.embedding_lookup(normalized_embeddings, valid_dataset)
    similarity = tf.matmul(valid, normalized_embeddings, transpose_b=True)
    size = (vocabulary_size, embedding_size)
    feeds = []
    for _ in range(10):
        feed = {train_inputs: draw.randint(0, vocabulary_size, batch_size)}
        feed[train_labels] = draw.randint(0, vocabulary_size, [batch_size, 1])
        feed[sampled] = draw.permutation(vocabulary_size)[:num_sampled]
        feeds.append(feed)
    return {
        "initial": {embeddings: draw.rand(*size) * 2 - 1, nce_weights: draw.randn(*size) * 0.3},
        "loss": loss,
        "train": optimizer,
        "feeds": feeds,
        "final": {"similarity": similarity},
    }
