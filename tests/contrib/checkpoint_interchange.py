"""Objects that go by checkpoints between Penstock and TensorFlow 1.15 (hence Python 3.7).

``python -m tests.contrib.checkpoint_interchange save PREFIX`` writes one and prints its path;
``load PATH`` prints what it finds.
"""

import json
import sys

import numpy as np

from tests.contrib.programs_checkpoint import state


def root(tf):
    made = tf.train.Checkpoint(text=state(tf, "here"), n=tf.contrib.checkpoint.NumpyState())
    made.n.x = np.array([1, 2, 0], np.int32)
    made.held = tf.contrib.checkpoint.List([tf.Variable([1.5, 2.5], name="v")])
    made.held.append(tf.contrib.checkpoint.Mapping(w=tf.Variable(3.0, name="w")))
    return made


def told(sess, item):
    text = item.text.value
    text = text.decode() if isinstance(text, bytes) else text
    values = sess.run([item.held[0], item.held[1]["w"]])
    return [text, item.n.x.tolist(), values[0].tolist(), float(values[1])]


def run(tf, what, path):
    item = root(tf)
    with tf.Session() as sess:
        if what == "save":
            sess.run(tf.global_variables_initializer())
            return item.save(path, session=sess)
        item.text.value, item.n.x = "none", np.zeros(1)
        item.restore(path).initialize_or_restore(sess)
        return told(sess, item)


if __name__ == "__main__":
    import tensorflow

    print(json.dumps(run(tensorflow, *sys.argv[1:])))
