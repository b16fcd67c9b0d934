"""CSV lines by TextLineReader and decode_csv.  Written as for TensorFlow 0.8."""
import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
rng = np.random.RandomState(45)
for name in ("iris0.csv", "iris1.csv"):
    with open(os.path.join(folder, name), "w") as f:
        f.write("length,width,kind,class\n")
        for _ in range(9):
            label = rng.randint(3)
            f.write("%.3f,%.2f,%s,%d\n" % (rng.rand() + label, rng.rand() - label,
                                           ["a", "b", ""][label], label))


def read_csv(batch_size, file_names, record_defaults):
    filename_queue = tf.train.string_input_producer(file_names, shuffle=False)
    reader = tf.TextLineReader(skip_header_lines=1)
    key, value = reader.read(filename_queue)
    decoded = tf.decode_csv(value, record_defaults=record_defaults)
    return tf.train.batch(decoded, batch_size=batch_size, capacity=batch_size * 5)


length, width, kind, label = read_csv(
    6, [os.path.join(folder, n) for n in ("iris0.csv", "iris1.csv")],
    [[0.0], [0.0], ["none"], [0]])
is_a = tf.to_float(tf.equal(kind, ["a"]))
is_none = tf.to_float(tf.equal(kind, ["none"]))
features = tf.transpose(tf.pack([length, width, is_a, is_none]))
W = tf.Variable(tf.zeros([4, 3]), name="weights")
b = tf.Variable(tf.zeros([3], name="bias"))
logits = tf.matmul(features, W) + b
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits, label))
train_op = tf.train.GradientDescentOptimizer(0.2).minimize(loss)

with tf.Session() as sess:
    tf.initialize_all_variables().run()
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    for step in range(6):
        value, kinds, _ = sess.run([loss, kind, train_op])
        print("step %d loss: %.6g %s" % (step, value, " ".join(k.decode() for k in kinds)))
    print(" ".join("%.6g" % v for v in sess.run(W)[0]))
    coord.request_stop()
    coord.join(threads)
