"""Masks and weights in Keras against what TensorFlow 1.15 has made of the same programs.

``python -m tests.training.keras_models.test_weighing`` under TensorFlow 1.15's Python writes
``weighing_golden.json`` anew.
"""

import json
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.training.keras_models.comparing import plain, same
from tests.training.keras_models.weighing_programs import PROGRAMS

GOLDEN = Path(__file__).with_name("weighing_golden.json")


def main():
    import tensorflow as tf

    from tensorflow.python.framework import ops

    def refuse(*_):
        raise TypeError("a tensor has no value yet")

    # TensorFlow 1.15 expects this error of lists that hold tensors; NumPy 1.20 raises another.
    ops.Tensor.__array__ = refuse
    tf.logging.set_verbosity(tf.logging.ERROR)
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

    @pytest.fixture(autouse=True)
    def _fresh():
        tf.keras.backend.clear_session()
        yield
        tf.keras.backend.clear_session()

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_program_is_as_tensorflows(name):
        same(plain(PROGRAMS[name](tf)), json.loads(GOLDEN.read_text())[name])
