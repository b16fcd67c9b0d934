"""WGAN with a gradient penalty and clipped weights.  Written as for TensorFlow 1.4."""
import numpy as np
import tensorflow as tf

LAMBDA = 10
CRITIC_ITERS = 2
BATCH_SIZE = 10
DIM = 8
_params = {}
rng = np.random.RandomState(21)


def param(name, value):
    if name not in _params:
        _params[name] = tf.Variable(value.astype('float32'), name=name)
    return _params[name]


def params_with_name(name):
    return [p for n, p in sorted(_params.items()) if name in n]


def Linear(name, n_in, n_out, x):
    stdev = np.sqrt(2. / (n_in + n_out))
    w = param(name + '.W', rng.normal(0, stdev, (n_in, n_out)))
    b = param(name + '.b', np.zeros(n_out))
    return tf.nn.bias_add(tf.matmul(x, w), b)


def Generator(noise):
    output = tf.nn.relu(Linear('Generator.1', 2, DIM, noise))
    output = tf.nn.relu(Linear('Generator.2', DIM, DIM, output))
    return Linear('Generator.3', DIM, 2, output)


def Discriminator(inputs):
    output = tf.nn.tanh(Linear('Discriminator.1', 2, DIM, inputs))
    output = tf.nn.tanh(Linear('Discriminator.2', DIM, DIM, output))
    output = Linear('Discriminator.3', DIM, 1, output)
    return tf.reshape(output, [-1])


real_data = tf.placeholder(tf.float32, shape=[None, 2])
noise = tf.placeholder(tf.float32, shape=[None, 2])
alpha = tf.placeholder(tf.float32, shape=[None, 1])
fake_data = Generator(noise)
disc_real = Discriminator(real_data)
disc_fake = Discriminator(fake_data)

# WGAN loss
disc_cost = tf.reduce_mean(disc_fake) - tf.reduce_mean(disc_real)
gen_cost = -tf.reduce_mean(disc_fake)

# WGAN gradient penalty
interpolates = alpha * real_data + ((1 - alpha) * fake_data)
disc_interpolates = Discriminator(interpolates)
gradients = tf.gradients(disc_interpolates, [interpolates])[0]
slopes = tf.sqrt(tf.reduce_sum(tf.square(gradients), reduction_indices=[1]))
gradient_penalty = tf.reduce_mean((slopes - 1)**2)
disc_cost += LAMBDA * gradient_penalty

disc_params = params_with_name('Discriminator')
gen_params = params_with_name('Generator')
disc_train_op = tf.train.RMSPropOptimizer(learning_rate=1e-3).minimize(
    disc_cost, var_list=disc_params)
gen_train_op = tf.train.AdamOptimizer(learning_rate=1e-3, beta1=0.5, beta2=0.9).minimize(
    gen_cost, var_list=gen_params)
clip_ops = [var.assign(tf.clip_by_value(var, -0.5, 0.5)) for var in disc_params]
clip_disc_weights = tf.group(*clip_ops)


def batch():
    return {real_data: rng.randn(BATCH_SIZE, 2) + [2, 0], noise: rng.randn(BATCH_SIZE, 2),
            alpha: rng.rand(BATCH_SIZE, 1)}


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for iteration in range(6):
        if iteration > 0:
            _g, _ = session.run([gen_cost, gen_train_op], feed_dict=batch())
            print('gen %.6g' % _g)
        for i in range(CRITIC_ITERS):
            _disc_cost, penalty, _ = session.run([disc_cost, gradient_penalty, disc_train_op],
                                                 feed_dict=batch())
            session.run(clip_disc_weights)
        print('iter %d disc %.6g penalty %.6g' % (iteration, _disc_cost, penalty))
