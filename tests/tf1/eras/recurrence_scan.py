"""A GRU by tf.scan, its embeddings gathered; sparse updates.  Written as for TensorFlow 1.0."""
import numpy as np
import tensorflow as tf


class GRU_rnn():
    def __init__(self, state_size, num_classes):
        self.state_size, self.num_classes = state_size, num_classes
        rng = np.random.RandomState(72)

        def weights(*shape):
            return tf.constant_initializer(0.3 * rng.randn(*shape))

        tf.reset_default_graph()
        self.xs_ = tf.placeholder(shape=[None, None], dtype=tf.int32)
        self.ys_ = tf.placeholder(shape=[None], dtype=tf.int32)
        embs = tf.get_variable('emb', [num_classes, state_size],
                               initializer=weights(num_classes, state_size))
        rnn_inputs = tf.nn.embedding_lookup(embs, self.xs_)
        self.init_state = tf.placeholder(shape=[None, state_size], dtype=tf.float32, name='state')
        W = tf.get_variable('W', shape=[3, state_size, state_size],
                            initializer=weights(3, state_size, state_size))
        U = tf.get_variable('U', shape=[3, state_size, state_size],
                            initializer=weights(3, state_size, state_size))

        def step(st_1, x):
            z = tf.sigmoid(tf.matmul(x, U[0]) + tf.matmul(st_1, W[0]))
            r = tf.sigmoid(tf.matmul(x, U[1]) + tf.matmul(st_1, W[1]))
            h = tf.tanh(tf.matmul(x, U[2]) + tf.matmul((r * st_1), W[2]))
            return (1 - z) * h + (z * st_1)

        states = tf.scan(step, tf.transpose(rnn_inputs, [1, 0, 2]), initializer=self.init_state)
        V = tf.get_variable('V', shape=[state_size, num_classes],
                            initializer=weights(state_size, num_classes))
        bo = tf.get_variable('bo', shape=[num_classes], initializer=tf.constant_initializer(0.))
        states = tf.transpose(states, [1, 0, 2])
        self.last_state = states[:, -1]
        logits = tf.matmul(tf.reshape(states, [-1, state_size]), V) + bo
        self.predictions = tf.nn.softmax(logits)
        self.losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits,
                                                                     labels=self.ys_)
        self.loss = tf.reduce_mean(self.losses)
        self.embs = embs
        self.train_op = tf.train.AdagradOptimizer(learning_rate=0.1).minimize(self.loss)
        self.touched = tf.gradients(self.loss, embs)[0]


model = GRU_rnn(state_size=6, num_classes=9)
data = np.random.RandomState(73).randint(0, 9, (4, 31))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    state = np.zeros([4, 6])
    print(isinstance(model.touched, tf.IndexedSlices))
    for i in range(0, 30, 5):
        feed = {model.xs_: data[:, i:i + 5], model.ys_: data[:, i + 1:i + 6].reshape(-1),
                model.init_state: state}
        _, train_loss, state = sess.run([model.train_op, model.loss, model.last_state], feed)
        print('%d %.6g %.6g' % (i, train_loss, np.abs(state).sum()))
    slices = sess.run(model.touched, feed)
    print(type(slices).__name__, slices.values.shape, slices.indices.tolist()[:5])
    print('%.6g' % np.abs(sess.run(model.embs)).sum())
