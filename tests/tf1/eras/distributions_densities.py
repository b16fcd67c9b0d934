"""tf.distributions: densities, entropies, divergences, a fit.  Written as for TensorFlow 1.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

tfd = tf.distributions
rng = np.random.RandomState(68)


def show(name, values):
    print(name, ' '.join('%.6g' % v for v in np.ravel(values)))


normal = tfd.Normal(loc=[0.0, 1.5], scale=[1.0, 0.4])
other = tfd.Normal(loc=0.5, scale=2.0)
gamma = tfd.Gamma(concentration=[2.0, 3.5], rate=1.5)
beta = tfd.Beta([0.5, 2.0], [1.5, 3.0])
categorical = tfd.Categorical(logits=np.log([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]))
bernoulli = tfd.Bernoulli(logits=[-1.0, 0.7])
dirichlet = tfd.Dirichlet([1.0, 2.0, 3.0])
multinomial = tfd.Multinomial(total_count=4.0, probs=[0.2, 0.3, 0.5])
student = tfd.StudentT(df=3.0, loc=0.5, scale=2.0)
fetches = [
    ('normal', normal.log_prob([0.3, 1.0])), ('cdf', normal.cdf([0.3, 1.0])),
    ('quantile', normal.quantile([0.25, 0.9])), ('entropy', normal.entropy()),
    ('kl', tfd.kl_divergence(normal, other)), ('cross', normal.cross_entropy(other)),
    ('gamma', gamma.log_prob([0.5, 2.0])), ('gamma mean', gamma.mean()),
    ('beta', beta.prob([0.2, 0.6])), ('beta variance', beta.variance()),
    ('beta kl', tfd.kl_divergence(beta, tfd.Beta(1.0, 1.0))),
    ('categorical', categorical.log_prob([2, 0])), ('mode', categorical.mode()),
    ('categorical entropy', categorical.entropy()),
    ('bernoulli', bernoulli.prob([1, 0])), ('bernoulli stddev', bernoulli.stddev()),
    ('dirichlet', dirichlet.log_prob([0.2, 0.3, 0.5])), ('dirichlet entropy', dirichlet.entropy()),
    ('multinomial', multinomial.log_prob([1.0, 1.0, 2.0])),
    ('student', student.log_prob([0.0, 3.0])), ('uniform', tfd.Uniform(1.0, 3.0).log_prob(2.0)),
    ('laplace', tfd.Laplace(0.0, 2.0).log_cdf([-1.0, 1.0])),
    ('exponential', tfd.Exponential(0.7).survival_function([1.0, 3.0])),
]
print(normal.batch_shape, dirichlet.event_shape, normal.dtype.name)

# Maximum likelihood of a mixture's parts.
data = np.concatenate([rng.randn(30) - 2, 0.5 * rng.randn(30) + 1]).astype(np.float32)
mu = tf.get_variable('mu', initializer=[-1.0, 0.5])
sigma = tf.nn.softplus(tf.get_variable('raw', initializer=[0.5, 0.5]))
weights = tf.get_variable('weights', [2], initializer=tf.zeros_initializer())
parts = tfd.Normal(mu, sigma).log_prob(data[:, None]) + tf.nn.log_softmax(weights)
nll = -tf.reduce_mean(tf.reduce_logsumexp(parts, axis=1))
train_op = tf.train.AdamOptimizer(0.1).minimize(nll)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for name, tensor in fetches:
        show(name, sess.run(tensor))
    for step in range(5):
        print('step %d nll %.6g' % (step, sess.run([nll, train_op])[0]))
    print(sess.run(normal.sample([5], seed=1)).shape)
