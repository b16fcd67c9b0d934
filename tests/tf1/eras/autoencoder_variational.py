"""A variational autoencoder; the noise is fed.  Written as for TensorFlow 1.0."""
import numpy as np
import tensorflow as tf

np.random.seed(0)


def xavier_init(fan_in, fan_out, constant=1):
    """Xavier initialization of network weights"""
    low = -constant * np.sqrt(6.0 / (fan_in + fan_out))
    high = constant * np.sqrt(6.0 / (fan_in + fan_out))
    return np.random.uniform(low, high, (fan_in, fan_out)).astype(np.float32)


class VariationalAutoencoder(object):
    def __init__(self, network_architecture, transfer_fct=tf.nn.softplus,
                 learning_rate=0.001, batch_size=100):
        self.network_architecture = network_architecture
        self.transfer_fct = transfer_fct
        self.learning_rate = learning_rate
        self.x = tf.placeholder(tf.float32, [None, network_architecture["n_input"]])
        self.eps = tf.placeholder(tf.float32, [None, network_architecture["n_z"]])
        self._create_network()
        self._create_loss_optimizer()
        self.sess = tf.InteractiveSession()
        self.sess.run(tf.global_variables_initializer())

    def _layer(self, x, n_in, n_out, act=tf.identity):
        w = tf.Variable(xavier_init(n_in, n_out))
        b = tf.Variable(tf.zeros([n_out], dtype=tf.float32))
        return act(tf.add(tf.matmul(x, w), b))

    def _create_network(self):
        na = self.network_architecture
        h = self._layer(self.x, na["n_input"], na["n_hidden"], self.transfer_fct)
        self.z_mean = self._layer(h, na["n_hidden"], na["n_z"])
        self.z_log_sigma_sq = self._layer(h, na["n_hidden"], na["n_z"])
        # z = mu + sigma*epsilon
        self.z = tf.add(self.z_mean,
                        tf.multiply(tf.sqrt(tf.exp(self.z_log_sigma_sq)), self.eps))
        h = self._layer(self.z, na["n_z"], na["n_hidden"], self.transfer_fct)
        self.x_reconstr_mean = self._layer(h, na["n_hidden"], na["n_input"], tf.nn.sigmoid)

    def _create_loss_optimizer(self):
        reconstr_loss = -tf.reduce_sum(
            self.x * tf.log(1e-10 + self.x_reconstr_mean)
            + (1 - self.x) * tf.log(1e-10 + 1 - self.x_reconstr_mean), 1)
        latent_loss = -0.5 * tf.reduce_sum(1 + self.z_log_sigma_sq
                                           - tf.square(self.z_mean)
                                           - tf.exp(self.z_log_sigma_sq), 1)
        self.parts = [tf.reduce_mean(reconstr_loss), tf.reduce_mean(latent_loss)]
        self.cost = tf.reduce_mean(reconstr_loss + latent_loss)
        self.optimizer = tf.train.AdamOptimizer(
            learning_rate=self.learning_rate).minimize(self.cost)

    def partial_fit(self, X, eps):
        opt, cost = self.sess.run((self.optimizer, self.cost),
                                  feed_dict={self.x: X, self.eps: eps})
        return cost

    def generate(self, z_mu):
        return self.sess.run(self.x_reconstr_mean, feed_dict={self.z: z_mu})


vae = VariationalAutoencoder(dict(n_input=30, n_hidden=14, n_z=3), learning_rate=0.01)
data = (np.random.rand(50, 30) > 0.6).astype(np.float32)
for epoch in range(4):
    avg_cost = 0.
    for i in range(0, 50, 10):
        avg_cost += vae.partial_fit(data[i:i + 10], np.random.randn(10, 3)) / 50 * 10
    print("Epoch: %04d cost= %.6g" % (epoch + 1, avg_cost))
feed = {vae.x: data, vae.eps: np.zeros([50, 3])}
print("reconstruction %.6g latent %.6g" % tuple(vae.sess.run(vae.parts, feed)))
for z in ([0, 0, 0], [1, 0, -1]):
    x = vae.generate(np.array([z], np.float32))
    print("%.6g %.6g %.6g" % (x[0, 0], x[0, 10], x.sum()))
