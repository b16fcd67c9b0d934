"""``import penstock.as_tensorflow``: TensorFlow's paths, one object each, whichever leads to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tf1.processes import python

LINE = "penstock: 'tensorflow' is Penstock 0.1.0, as TensorFlow 1.15.0"


def check(code: str, **environment: str) -> str:
    done = python("-c", f"import penstock.as_tensorflow\n{code}", **environment)
    return done.stderr


@pytest.mark.long
def test_paths_lead_to_the_same_modules() -> None:
    said = check(
        "import tensorflow as tf\n"
        "import tensorflow.compat.v1 as v1, penstock\n"
        "from tensorflow.contrib import rnn\n"
        "import tensorflow.python.ops.rnn_cell as cells\n"
        "from tensorflow.python.ops import array_ops, rnn_cell\n"
        "from tensorflow.python.framework import ops, graph_util, dtypes, tensor_shape\n"
        "from tensorflow.core.framework import graph_pb2\n"
        "from tensorflow.python.client import timeline\n"
        "import penstock.python.ops.array_ops as ours, penstock.python.client.timeline\n"
        "from tensorflow.io.gfile import GFile\n"
        "import tensorflow.gfile\n"
        "assert v1 is tf is tf.compat.v1\n"
        "assert tf.python.ops.array_ops is array_ops is ours\n"
        "assert cells is rnn_cell is tf.python.ops.rnn_cell\n"
        "assert cells.GRUCell is tf.nn.rnn_cell.GRUCell is rnn.GRUCell\n"
        "assert rnn.GRUCell is penstock.library.nn.rnn_cell.GRUCell\n"
        "assert tf.nn is penstock.library.nn and tf.contrib is penstock.contrib\n"
        "assert graph_pb2.GraphDef is tf.GraphDef and dtypes.float32 is tf.float32\n"
        "assert ops.Tensor is tf.Tensor and tensor_shape.TensorShape is tf.TensorShape\n"
        "assert timeline is penstock.python.client.timeline\n"
        "assert tf.gfile.GFile is GFile and tf.version.VERSION == tf.__version__ == '1.15.0'\n"
    )
    assert said.splitlines() == [LINE]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import tensorflow as tf; tf.conv2d",
            "module 'tensorflow' has no attribute 'conv2d'; docs",
        ),
        ("import tensorflow as tf; tf.Sesion", "the nearest names are Session"),
        ("from tensorflow.python.ops import arry_ops", "the nearest names are array_ops"),
        ("import tensorflow.nothing.at_all", "No module named 'tensorflow.nothing"),
        ("from tensorflow.python.ops.array_ops import concatt", "the nearest names are concat;"),
        ("import tensorflow as tf; tf.python.ops.array_ops.concatt", "nearest names are concat;"),
    ],
)
def test_what_is_absent_says_what_is_near(code: str, said: str) -> None:
    done = python("-c", f"import penstock.as_tensorflow\n{code}", code=1)
    assert said in done.stderr.splitlines()[-1]
    assert "Did you mean" not in done.stderr


@pytest.mark.long
def test_every_name_is_there_for_a_star() -> None:
    check(
        "from tensorflow import *\nfrom tensorflow.python.ops.rnn_cell import *\nSession, GRUCell"
    )


@pytest.mark.long
def test_tensorboard_reads_on_in_such_a_process(tmp_path: Path) -> None:
    """It takes the readers of a TensorFlow that is there, and silences its deprecations."""
    check(
        "import tensorflow as tf\n"
        "from tensorboard.backend.event_processing import event_accumulator\n"
        "from tensorflow.python.util import deprecation\n"
        "for name in 'ab':\n"
        f"    folder = {str(tmp_path)!r} + '/' + name\n"
        "    with tf.summary.FileWriter(folder) as writer:\n"
        "        value = tf.Summary.Value(tag='x', simple_value=2.0)\n"
        "        writer.add_summary(tf.Summary(value=[value]), 1)\n"
        "    found = event_accumulator.EventAccumulator(folder)\n"
        "    found.Reload()\n"
        "    assert found.Scalars('x')[0].value == 2.0\n"
        "@deprecation.deprecated(None, 'Write another.')\n"
        "def old(): return 1\n"
        "with deprecation.silence():\n"
        "    assert old() == 1\n"
    )


@pytest.mark.long
def test_the_version_is_settable() -> None:
    said = check(
        "import tensorflow as tf, penstock\n"
        "assert tf.__version__ == tf.VERSION == tf.version.VERSION == '0.12.1'\n"
        "assert penstock.VERSION == '1.15.0'",
        PENSTOCK_TF_VERSION="0.12.1",
    )
    assert said == LINE.replace("1.15.0", "0.12.1") + "\n"


def test_an_installed_tensorflow_stays_unless_told(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text("VERSION = 'theirs'\n")
    code = "import sys; sys.path[0] = {!r}\n{}import penstock.as_tensorflow\n{}"
    ask = "import tensorflow as tf; print(tf.VERSION)"
    done = python("-c", code.format(str(tmp_path), "", ask))
    assert done.stdout == "theirs\n" and "stays the installed one" in done.stderr
    done = python("-c", code.format(str(tmp_path), "", ask), PENSTOCK_AS_TENSORFLOW="instead")
    assert done.stdout == "1.15.0\n" and "in place of" in done.stderr
    late = code.format(str(tmp_path), "import tensorflow\n", ask)
    done = python("-c", late, code=1, PENSTOCK_AS_TENSORFLOW="instead")
    assert "Penstock comes too late" in done.stderr


@pytest.mark.long
def test_a_plugin_of_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import tensorflow as tf\n"
        "class TestIt(tf.test.TestCase):\n"
        "    def test_sum(self):\n"
        "        with self.test_session():\n"
        "            self.assertAllEqual(tf.add(1, [2, 3]).eval(), [3, 4])\n"
    )
    words = ["-m", "pytest", "-p", "penstock.as_tensorflow", "-p", "no:cacheprovider", "test_it.py"]
    said = python(*words, cwd=tmp_path).stdout
    assert LINE in said and "1 passed" in said or "2 passed" in said


@pytest.mark.parametrize("restored", [False, True])
def test_spawned_processes_have_it_too(restored: bool, tmp_path: Path) -> None:
    """Those of a pool whose work cannot be imported are started anew for ever."""
    (tmp_path / "work.py").write_text(
        "import tensorflow as tf\n"
        + ("from collections import Iterable\n" if restored else "")
        + "def version(_):\n    return tf.__version__\n"
    )
    (tmp_path / "program.py").write_text(
        "import multiprocessing\n"
        "if __name__ == '__main__':\n"  # what is spawned does not run these lines
        "    import penstock.as_tensorflow\n"
        + ("    from penstock.tf1 import old_python; old_python.restore()\n" if restored else "")
        + "    import work\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map_async(work.version, [0]).get(timeout=100))\n"
    )
    done = python(str(tmp_path / "program.py"))
    assert done.stdout.strip() == "['1.15.0']"
