"""A program with flags, as TF1 programs have them; its framework is in the environment."""

import importlib
import os

tf = importlib.import_module(os.environ["FRAMEWORK"])

flags = tf.app.flags
flags.DEFINE_string("data_dir", "/tmp/data", "Where the data is.")
flags.DEFINE_integer(flag_name="steps", default_value=3, docstring="How many steps.")
flags.DEFINE_float("rate", 0.5, "The learning rate.")
tf.flags.DEFINE_bool("verbose", False, "Whether to say more.")

flags.DEFINE_string("data_url", None, "Where the data comes from.")
flags.DEFINE_enum("mode", "train", ["train", "eval"], "What to do.")
flags.DEFINE_list("layers", "64,32", "Widths.")
FLAGS = flags.FLAGS

if os.environ.get("READ_EARLY"):
    print("early", FLAGS.steps, FLAGS.is_parsed())


def main(argv):
    print("argv", argv[1:], type(argv).__name__)
    print(FLAGS.data_dir, FLAGS.steps, FLAGS.rate, FLAGS.verbose, FLAGS.data_url, FLAGS.mode)
    print(FLAGS.layers, FLAGS["steps"].value, "steps" in FLAGS, tf.flags.FLAGS.steps)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.get_variable("x", initializer=10.0)
        step = tf.train.GradientDescentOptimizer(FLAGS.rate).minimize(tf.square(x))
        sess.run(tf.global_variables_initializer())
        for _ in range(FLAGS.steps):
            sess.run(step)
        print("x", sess.run(x))
    return FLAGS.steps if FLAGS.verbose else None


if __name__ == "__main__":
    tf.app.run()
