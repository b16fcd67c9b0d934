"""A program that logs; its framework is in the environment."""

import importlib
import logging
import os
import sys

tf = importlib.import_module(os.environ["FRAMEWORK"])

if "own" in sys.argv:
    logging.basicConfig(format="own %(levelname)s %(filename)s %(funcName)s %(message)s")
tf.logging.info("not shown")
tf.logging.warning("warned of %s", "this")
print(tf.logging.get_verbosity(), tf.get_logger().name, tf.get_logger() is tf.get_logger())
tf.logging.set_verbosity(tf.logging.INFO)
print(tf.logging.get_verbosity(), tf.logging.DEBUG, tf.logging.WARN, tf.logging.FATAL)


def work():
    tf.logging.info("shown: %d", 1)
    tf.logging.debug("not shown")
    tf.logging.error("an error")
    tf.logging.fatal("the worst")
    tf.logging.warn("old name")
    tf.logging.log(tf.logging.INFO, "by level %s", "x")
    tf.logging.vlog(tf.logging.ERROR, "verbose")
    tf.logging.TaskLevelStatusMessage("of the task")
    tf.logging.log_if(tf.logging.WARN, "if %d", True, 5)
    tf.logging.log_if(tf.logging.WARN, "if not", False)
    for i in range(5):
        tf.logging.log_every_n(tf.logging.INFO, "every 2: %d", 2, i)
    # In TensorFlow 1.15 the lines of a program share one counter, so this one shows nothing there.
    for i in range(5 if tf.__name__ == "penstock" else 0):
        tf.logging.log_first_n(tf.logging.INFO, "first 2: %d", 2, i)


work()
# What the system itself says comes by the same log.
with tf.Graph().as_default():
    a = tf.get_variable("a", initializer=1.0)
    double = tf.assign(a, a * 2.0)
    tf.train.create_global_step()
    hook = tf.train.LoggingTensorHook({"a": double}, every_n_iter=1)
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        sess.run(double)
