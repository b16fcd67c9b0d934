"""Masks, weights, operations between layers, and what models tell, as TensorFlow 1.15 has them.

``python -m tests.training.keras_models.test_told graph`` (or ``eager``) under TensorFlow 1.15's
Python writes that part of ``told_golden.json`` anew.
"""

import json
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.training.keras_models import (
    between_programs,
    classic_networks,
    recurrent_models,
    seldom_layers,
    seldom_models,
    weighing_programs,
)
from tests.training.keras_models.comparing import plain, same

GOLDEN = Path(__file__).with_name("told_golden.json")
PROGRAMS = dict(weighing_programs.PROGRAMS)
MODULES = between_programs, classic_networks, recurrent_models, seldom_layers, seldom_models
for module in MODULES:
    PROGRAMS.update(module.PROGRAMS)


def main(mode):
    import tensorflow as tf
    from tensorflow.python.framework import ops

    def refuse(*_):
        raise TypeError("a tensor has no value yet")

    # TensorFlow 1.15 expects this error of lists that hold tensors; NumPy 1.20 raises another.
    ops.Tensor.__array__ = refuse
    tf.logging.set_verbosity(tf.logging.ERROR)
    if mode == "eager":
        tf.enable_eager_execution()
    found = {}
    for name, run in PROGRAMS.items():
        tf.keras.backend.clear_session()
        found[name] = plain(run(tf))
    kept = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    kept[mode] = found
    GOLDEN.write_text(json.dumps(kept, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
else:
    import numpy as np
    import pytest

    import penstock as tf
    from penstock.foundation.graph.defaults import default_graph_scope
    from penstock.library.eager import mode, operators
    from tests.suite.daily import long_but

    @pytest.fixture
    def _eagerly():
        operators.install()
        with default_graph_scope(mode.Program()):
            yield

    # Layers whose programs take seconds.
    _SLOW = {"images_over_time", "kept_states", "local_images", "local_steps", "peepholes"}
    _DAILY = set(PROGRAMS) - _SLOW

    @pytest.mark.parametrize("name", long_but(_DAILY, PROGRAMS))
    def test_program_is_as_tensorflows(name):
        tf.keras.backend.clear_session()
        same(plain(PROGRAMS[name](tf)), json.loads(GOLDEN.read_text())["graph"][name])
        tf.keras.backend.clear_session()

    @pytest.mark.usefixtures("_eagerly")
    @pytest.mark.parametrize("name", long_but(_DAILY, PROGRAMS))
    def test_eager_program_is_as_tensorflows(name):
        same(plain(PROGRAMS[name](tf)), json.loads(GOLDEN.read_text())["eager"][name])

    def test_a_number_is_a_loss_in_a_graph_alone():
        def model():
            made = tf.keras.Sequential([
                tf.keras.layers.Dense(1, kernel_initializer="zeros", input_shape=[2])
            ])  # fmt: skip
            made.add_loss(3.0)
            return made

        with tf.Graph().as_default():
            found = model()
            found.compile("sgd", "mse")
            assert found.evaluate(np.ones([1, 2]), np.zeros([1, 1]), verbose=0) == 3.0
        operators.install()
        with (
            default_graph_scope(mode.Program()),
            pytest.raises(ValueError, match="Expected a symbolic Tensors or a callable"),
        ):
            model()

    @pytest.mark.usefixtures("_eagerly")
    def test_a_variables_rows_between_layers():
        table = tf.Variable(np.arange(6.0, dtype="f").reshape(3, 2))
        rows = tf.gather(table, tf.keras.Input([], dtype="int32"))
        assert rows.shape.as_list() == [None, 2]

    def test_compile_takes_what_a_run_of_the_session_takes():
        with tf.Graph().as_default():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
            with pytest.raises(ValueError, match='Invalid argument "z" passed to K.function'):
                model.compile("sgd", "mse", z=1)
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            model.compile("sgd", "mse", options=options, run_metadata=metadata)
            model.train_on_batch(np.ones([1, 2]), np.ones([1, 1]))
        assert metadata.step_stats.dev_stats
