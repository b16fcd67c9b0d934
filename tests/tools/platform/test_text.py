"""``tf.compat``: strings, dates, and the API as a module."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import pytest

import penstock as tf
from tests.suite import warm


def test_strings() -> None:
    assert tf.compat.as_bytes("é") == b"\xc3\xa9" and tf.compat.as_bytes("é", "latin-1") == b"\xe9"
    assert tf.compat.as_bytes(bytearray(b"ab")) == b"ab"
    assert type(tf.compat.as_bytes(bytearray(b"ab"))) is bytes
    assert tf.compat.as_text(b"\xe9", "latin-1") == "é" and tf.compat.as_str("x") == "x"
    assert tf.compat.as_str_any(b"x") == "x" and tf.compat.as_str_any(3) == "3"
    assert tf.compat.path_to_str(pathlib.Path("a") / "b") == "a/b"
    assert tf.compat.path_to_str(3) == 3


@pytest.mark.parametrize("convert", [tf.compat.as_bytes, tf.compat.as_text, tf.compat.as_str])
def test_what_is_no_string(convert: object) -> None:
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        convert(3)  # type: ignore[operator]


def test_types() -> None:
    assert isinstance(np.int64(1), tf.compat.integral_types)
    assert isinstance(np.float32(1), tf.compat.real_types)
    assert not isinstance(1j, tf.compat.real_types) and isinstance(1j, tf.compat.complex_types)
    assert isinstance("a", tf.compat.bytes_or_text_types)


def test_dates() -> None:
    assert tf.compat.forward_compatible(2019, 8, 20)
    assert not tf.compat.forward_compatible(2019, 8, 21)
    with tf.compat.forward_compatibility_horizon(2020, 1, 2):
        assert tf.compat.forward_compatible(2019, 12, 31)
        assert not tf.compat.forward_compatible(2020, 1, 2)
    assert not tf.compat.forward_compatible(2019, 8, 21)


def test_dimensions() -> None:
    shape = tf.TensorShape([None, 3])
    assert tf.compat.dimension_value(tf.compat.dimension_at_index(shape, 1)) == 3


_AS_V1 = """
import penstock.compat.v1 as tf
import penstock.compat.v1.nn as nn
from penstock.compat.v1 import train
from penstock.compat.v1.nn import relu
from penstock.compat import v1
import penstock
assert tf is penstock is v1 is tf.compat.v1 is penstock.compat.v1, tf
assert nn is penstock.nn and train is penstock.train and relu is penstock.nn.relu
tf.disable_v2_behavior()
with tf.Session() as sess:
    assert sess.run(tf.constant(2) + 3) == 5
import sys
twice = [n for n, m in sys.modules.items() if n.startswith("penstock.compat.v1") and
         not n.startswith(m.__name__) and sys.modules[m.__name__] is not m]
assert not twice, twice
"""


def test_the_api_as_a_module() -> None:
    """Programs of the years between: ``import tensorflow.compat.v1 as tf``."""
    warm.run([sys.executable, "-c", _AS_V1], check=True)


_BY_PUBLIC_NAMES = """
import penstock.nn.rnn_cell
from penstock.train import Saver
import penstock as tf
assert penstock.nn.rnn_cell is tf.nn.rnn_cell and Saver is tf.train.Saver
assert penstock.nn.__spec__.name == penstock.nn.__name__
try:
    import penstock.no_such_name
except ModuleNotFoundError as error:
    assert error.name == "penstock.no_such_name", error
else:
    raise AssertionError("it was found")
"""


@pytest.mark.long
def test_modules_by_their_public_names() -> None:
    warm.run([sys.executable, "-c", _BY_PUBLIC_NAMES], check=True)


_LAZY = """
import sys, penstock as tf
assert "absl.app" not in sys.modules and "penstock.tools.testing" not in sys.modules
tf.flags.DEFINE_string("a", "b", "c")
assert "absl.app" in sys.modules and "penstock.tools.testing" not in sys.modules
assert "TestCase" in dir(tf.test) and tf.test.TestCase.__name__ == "TestCase"
assert not hasattr(tf.test, "no_such") and not hasattr(tf.flags, "no_such")
"""


@pytest.mark.long
def test_what_few_programs_need_is_loaded_by_them() -> None:
    warm.run([sys.executable, "-c", _LAZY], check=True)


def test_versions() -> None:
    assert tf.VERSION == tf.version.VERSION == "1.15.0"
    assert tf.GRAPH_DEF_VERSION == 134 == tf.Graph().as_graph_def().versions.producer
    assert tf.sysconfig.get_compile_flags()[0] == f"-I{tf.sysconfig.get_include()}"
    assert pathlib.Path(tf.sysconfig.get_include(), "torch").is_dir()
    assert list(pathlib.Path(tf.sysconfig.get_lib()).glob("libtorch*"))


def test_resources() -> None:
    here = pathlib.Path(__file__).parent
    assert tf.resource_loader.get_data_files_path() == str(here)
    assert tf.resource_loader.get_path_to_datafile("x.txt") == str(here / "x.txt")
    assert tf.resource_loader.get_root_dir_with_all_resources() == str(here)
    assert b"py.typed" not in tf.resource_loader.load_resource("__init__.py")
    assert tf.resource_loader.readahead_file_path("a") == "a"
    with pytest.raises(OSError):
        tf.resource_loader.load_resource("no/such")
