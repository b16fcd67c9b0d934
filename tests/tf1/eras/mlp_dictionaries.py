"""A multilayer perceptron, its weights in dictionaries.  Written as for TensorFlow 0.8."""
import numpy as np
import tensorflow as tf

# Parameters
learning_rate = 0.005
training_epochs = 3
batch_size = 20
display_step = 1

# Network Parameters
n_hidden_1 = 16  # 1st layer num features
n_hidden_2 = 12  # 2nd layer num features
n_input = 20
n_classes = 4

rng = np.random.RandomState(5)
centers = rng.randn(n_classes, n_input)
labels = rng.randint(0, n_classes, 100)
images = (centers[labels] + 0.7 * rng.randn(100, n_input)).astype(np.float32)
one_hot = np.eye(n_classes, dtype=np.float32)[labels]

# tf Graph input
x = tf.placeholder("float", [None, n_input])
y = tf.placeholder("float", [None, n_classes])


# Create model
def multilayer_perceptron(_X, _weights, _biases):
    layer_1 = tf.nn.relu(tf.add(tf.matmul(_X, _weights['h1']), _biases['b1']))
    layer_2 = tf.nn.relu(tf.add(tf.matmul(layer_1, _weights['h2']), _biases['b2']))
    return tf.matmul(layer_2, _weights['out']) + _biases['out']


def normal(*shape):
    return (0.3 * rng.randn(*shape)).astype('float32')


# Store layers weight & bias
weights = {
    'h1': tf.Variable(normal(n_input, n_hidden_1)),
    'h2': tf.Variable(normal(n_hidden_1, n_hidden_2)),
    'out': tf.Variable(normal(n_hidden_2, n_classes))
}
biases = {
    'b1': tf.Variable(normal(n_hidden_1)),
    'b2': tf.Variable(normal(n_hidden_2)),
    'out': tf.Variable(normal(n_classes))
}

# Construct model
pred = multilayer_perceptron(x, weights, biases)

# Define loss and optimizer
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(pred, y))
optimizer = tf.train.AdamOptimizer(learning_rate=learning_rate).minimize(cost)

# Initializing the variables
init = tf.initialize_all_variables()

# Launch the graph
with tf.Session() as sess:
    sess.run(init)
    for epoch in range(training_epochs):
        avg_cost = 0.
        total_batch = int(len(images) / batch_size)
        for i in range(total_batch):
            batch_xs = images[i * batch_size:(i + 1) * batch_size]
            batch_ys = one_hot[i * batch_size:(i + 1) * batch_size]
            sess.run(optimizer, feed_dict={x: batch_xs, y: batch_ys})
            avg_cost += sess.run(cost, feed_dict={x: batch_xs, y: batch_ys}) / total_batch
        if epoch % display_step == 0:
            print("Epoch: %04d cost= %.6g" % (epoch + 1, avg_cost))

    # Test model
    correct_prediction = tf.equal(tf.argmax(pred, 1), tf.argmax(y, 1))
    accuracy = tf.reduce_mean(tf.cast(correct_prediction, "float"))
    print("Accuracy: %.6g" % accuracy.eval({x: images, y: one_hot}))
