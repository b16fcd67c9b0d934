"""Runs pickled programs in TensorFlow: ``python program_runner.py jobs.pickle results.pickle``.

As ``tf_runner.py`` for rows: each result is written as soon as it is known.
"""

import os
import pickle
import sys
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.filterwarnings("ignore")
sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))

import tensorflow  # noqa: E402

tf1 = tensorflow.compat.v1
tf1.disable_v2_behavior()
tf1.logging.set_verbosity("ERROR")

from tests.conformance.program_jobs import run_job  # noqa: E402


def session_of(tf):
    """A session that runs a graph as it is, and gives up after a while."""
    rewrite = tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))
    rewrite.rewrite_options.disable_meta_optimizer = True
    return tf.Session(
        config=tf.ConfigProto(
            intra_op_parallelism_threads=1,
            inter_op_parallelism_threads=2,
            operation_timeout_in_ms=20000,
            graph_options=rewrite,
        )
    )


def main(source, target):
    """Runs the jobs of the file ``source``; appends one pickle a job to ``target``."""
    with open(source, "rb") as file:
        work = pickle.load(file)
    with open(target, "ab") as file:
        for job in work:
            pickle.dump(run_job(tf1, session_of, job), file, protocol=4)
            file.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
