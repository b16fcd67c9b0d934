"""Keras under eager execution against what TensorFlow 1.15 has made of the same programs.

``python -m tests.training.keras_models.test_eager_models`` under TensorFlow 1.15's Python writes
``eager_golden.json`` anew.
"""

import json
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.training.keras_models.comparing import plain, same
from tests.training.keras_models.eager_programs import PROGRAMS

GOLDEN = Path(__file__).with_name("eager_golden.json")


def main():
    import tensorflow as tf

    tf.enable_eager_execution()
    found = {}
    for name, run in PROGRAMS.items():
        tf.keras.backend.clear_session()
        found[name] = plain(run(tf))
    GOLDEN.write_text(json.dumps(found, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
else:
    import pytest

    import penstock as tf
    from penstock.foundation.graph.defaults import default_graph_scope
    from penstock.library.eager import mode, operators

    @pytest.fixture
    def _eagerly():
        operators.install()
        with default_graph_scope(mode.Program()):
            yield

    @pytest.mark.usefixtures("_eagerly")
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_eager_program_is_as_tensorflows(name):
        same(plain(PROGRAMS[name](tf)), json.loads(GOLDEN.read_text())[name])

    @pytest.mark.usefixtures("_eagerly")
    def test_a_cleared_session_counts_names_anew():
        assert tf.keras.layers.Dense(1).name == "dense"
        tf.keras.backend.clear_session()
        assert tf.keras.layers.Dense(1).name == "dense"
        assert tf.executing_eagerly()
