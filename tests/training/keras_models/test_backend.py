"""Functions of ``tf.keras.backend`` against what TensorFlow 1.15 has made of the same programs.

``python -m tests.training.keras_models.test_backend`` under TensorFlow 1.15's Python writes
``backend_golden.json`` anew.
"""

import inspect
import json
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.training.keras_models.backend_programs import GROUPS, beneath, refused, values
from tests.training.keras_models.comparing import plain, same

GOLDEN = Path(__file__).with_name("backend_golden.json")


def signatures(tf):
    """Names of the arguments of the backend's functions."""
    backend = tf.keras.backend
    return {
        name: list(inspect.signature(getattr(backend, name)).parameters)
        for name in dir(backend)
        if inspect.isfunction(getattr(backend, name)) and not name.startswith("_")
    }


def rounded(value):
    """Six digits, so that the file is small."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main():
    import tensorflow as tf
    from tensorflow.python.keras import backend

    found = {name: rounded(plain(values(tf, name))) for name in GROUPS}
    found["refused"], found["signatures"] = refused(tf), signatures(tf)
    found["beneath"] = rounded(plain(beneath(tf, backend)))
    GOLDEN.write_text(json.dumps(found, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
else:
    import pytest

    import penstock as tf
    from penstock.python.keras import backend

    def golden(name):
        return json.loads(GOLDEN.read_text())[name]

    @pytest.mark.parametrize("name", GROUPS)
    def test_values_are_tensorflows(name):
        wanted, found = golden(name), plain(values(tf, name))
        for key in wanted:
            same(found[key], wanted[key], key, 2e-5, 2e-6)

    def test_what_lies_beneath_is_tensorflows():
        same(plain(beneath(tf, backend)), golden("beneath"), "beneath", 2e-5, 2e-6)

    def test_what_fits_not_is_refused():
        found = refused(tf)
        for name, (kind, words) in golden("refused").items():
            assert found[name][0] == kind, (name, found[name])
            if " for 'MatMul" not in words:
                assert found[name][1].startswith(words.split(" integers")[0].rstrip(".")), (
                    name,
                    found[name],
                )

    def test_functions_take_the_arguments_that_tensorflows_take():
        """What Penstock's take besides (a name) comes behind them."""
        found = signatures(tf)
        for name, arguments in golden("signatures").items():
            assert found[name][: len(arguments)] == arguments, name
