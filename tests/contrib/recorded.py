"""Programs of ``tf.contrib``, run here and under TensorFlow 1.15: what both find must agree.

A module ``programs_*.py`` has functions ``case_*`` from the package (``tf``) to what plain JSON can
hold: names of variables, values, words of errors.  ``expected/`` keeps what TensorFlow 1.15 found,
so that fast tests need none of it; ``python -m tests.contrib.recorded`` writes it anew, in the
environment of TensorFlow 1.15 (hence its Python, 3.7).
"""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "expected"


def modules():
    """Names of the modules of programs."""
    return sorted(p.stem for p in HERE.glob("programs_*.py"))


def cases(module):
    """The programs of a module by name."""
    found = vars(import_module("tests.contrib." + module))
    return {k[5:]: v for k, v in found.items() if k.startswith("case_")}


# ---- what programs use ---------------------------------------------------------------------------


def values(tf, tensors, feed=None):
    """The values of tensors in a new session in which all variables are initialized."""
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return sess.run(tensors, feed)


def names(variables):
    """The names of variables, in order."""
    return [v.name for v in variables]


def nodes(tf):
    """Name and type of every node of the graph, in order."""
    return [[op.name, op.type] for op in tf.get_default_graph().get_operations()]


def refused(function, words=""):
    """Type of the error that ``function`` raises, and whether its text has these words."""
    try:
        function()
    except Exception as raised:
        return [type(raised).__name__, words in str(raised)]
    return None


# ---- running and comparing -----------------------------------------------------------------------


def run(tf, case):
    """What a program finds, as JSON holds it."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        return json.loads(json.dumps(_plain(case(tf))))


def _plain(value):
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    return value


def check(found, wanted, where="", rtol=2e-5, atol=2e-6):
    """Asserts that what was found is what was wanted, numbers up to rounding."""
    if isinstance(wanted, dict):
        assert isinstance(found, dict) and sorted(found) == sorted(wanted), (where, found, wanted)
        for key in wanted:
            check(found[key], wanted[key], where + "." + key, rtol, atol)
    elif isinstance(wanted, list):
        assert isinstance(found, list), (where, found, wanted)
        assert len(found) == len(wanted), (where, found, wanted)
        for i, (one, other) in enumerate(zip(found, wanted)):
            check(one, other, f"{where}[{i}]", rtol, atol)
    elif isinstance(wanted, float):
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, err_msg=where)
    else:
        assert found == wanted, (where, found, wanted)


def main(module, path):
    """Runs a module's programs under TensorFlow 1.15 and writes what they find."""
    import tensorflow
    from tensorflow.python.framework import ops

    def refuse(*_):
        raise TypeError("a tensor has no value yet")

    # TensorFlow 1.15 expects this error of lists that hold tensors; NumPy 1.20 raises another.
    ops.Tensor.__array__ = refuse
    found, failed = {}, {}
    for name, case in sorted(cases(module).items()):
        try:
            found[name] = run(tensorflow, case)
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error}"
    lines = [json.dumps(k) + ": " + json.dumps(v) for k, v in found.items()]
    Path(path).write_text("{\n" + ",\n".join(lines) + "\n}\n")
    if failed:
        sys.exit("these programs fail under TensorFlow: " + json.dumps(failed, indent=1))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else EXPECTED / (sys.argv[1] + ".json"))
