"""What Python and its packages have dropped, put back by ``penstock run`` and told."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

from penstock.tf1 import old_images, old_imports, old_methods, old_six, old_versions, python2
from tests.tf1.processes import python, run


def script(folder: Path, text: str) -> str:
    path = folder / "old.py"
    path.write_text(text)
    return str(path)


PROGRAM = """\
import numpy as np, inspect, time, os, fractions, base64, threading
from collections import Mapping, OrderedDict
import tensorflow as tf
tf.app.flags.DEFINE_integer('n', 3, '')
FLAGS = tf.app.flags.FLAGS
FLAGS._parse_flags()
assert np.float is float and np.asscalar(np.array([3])) == 3
assert issubclass(OrderedDict, Mapping)
assert inspect.getargspec(lambda a, *b: a).varargs == 'b'
assert 0 < time.clock() < 1e3 and os.errno.EEXIST == 17 and fractions.gcd(12, -8) == -4
assert base64.encodestring(b'a') == b'YQ==\\n'
assert not threading.Thread().isAlive()
print('done', FLAGS.n)
"""


@pytest.mark.long
def test_a_program_of_its_time(tmp_path: Path) -> None:
    done = run(script(tmp_path, PROGRAM), "--n", "4")
    assert done.stdout == "done 4\n"
    said = done.stderr.splitlines()[-1]
    assert said.startswith("penstock run: put back for this program: ")
    for each in (
        "collections.Mapping (old.py:2)",
        "FLAGS._parse_flags (old.py:6)",
        "numpy.float (old.py:7)",
        "time.clock (old.py:10)",
        "Thread.isAlive (old.py:12)",
    ):
        assert each in said


ARRAYS = """\
import array, sys
import numpy as np
import beside
a = np.arange(6, dtype=np.int16).reshape(2, 3)
data = a.tostring()
assert np.fromstring(data, np.int16).tolist() == [0, 1, 2, 3, 4, 5]
assert np.fromstring('1 2', sep=' ').tolist() == [1, 2]
assert np.reshape(a, newshape=[3, 2]).tolist() == np.reshape(a, (3, 2)).tolist()
assert np.reshape([1, 2], order='F', newshape=-1).tolist() == np.reshape([1, 2], -1).tolist()
a.itemset(4, 7), a.itemset(0, 2, 8), a.itemset((1, 0), 9)
kept = array.array('b', [1])
kept.fromstring(b'\\x02')
print(a.tolist(), a.ptp(), a.newbyteorder()[0, 1], kept.tostring())
print([np.float32(1.5)], {'n': np.int64(3)}, np.bool_(True), beside.data(a[:1]))
class Mine:
    tostring = 'mine'
print(Mine.tostring, Mine().tostring)
np.float32(1).itemset(2)
"""


def test_methods_that_arrays_had(tmp_path: Path) -> None:
    beside = tmp_path / "beside.py"
    beside.write_text("def data(a): return a.tostring()")
    done = run(script(tmp_path, ARRAYS), code=1)
    assert done.stdout.splitlines() == [
        "[[0, 1, 8], [9, 7, 5]] 9 256 b'\\x01\\x02'",
        "[1.5] {'n': 3} True b'\\x00\\x00\\x01\\x00\\x08\\x00'",
        "mine mine",
    ]
    assert 'old.py", line 18, in <module>' in done.stderr
    for each in (
        "ndarray.tostring (old.py:5)",
        "numpy.fromstring of bytes (old.py:6)",
        "numpy.reshape(newshape=) (old.py:8)",
    ):
        assert each in done.stderr
    plain = python("-c", "import beside, numpy; beside.data(numpy.ones(1))", cwd=tmp_path, code=1)
    assert "has no attribute 'tostring'" in plain.stderr


def test_filters_of_images_by_their_first_names(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="it is Pillow's names that are put back")
    text = (
        "from PIL import Image\n"
        "assert Image.ANTIALIAS == Image.LANCZOS and Image.CUBIC == Image.BICUBIC\n"
        "print(Image.new('L', (4, 4), 7).resize((2, 2), Image.ANTIALIAS).getpixel((0, 0)))"
    )
    done = run(script(tmp_path, text))
    assert done.stdout == "7\n"
    assert "PIL.Image.ANTIALIAS (old.py:2)" in done.stderr


NO_COPY = """\
import numpy as np
class Mine:
    def array(self, x, copy=True): return x, copy
kept = np.ones(2)
assert np.array(kept, copy=False) is kept
assert np.array([1, 2], dtype=float, copy=False).tolist() == [1.0, 2.0]
assert np.array(kept, copy=True) is not kept
print(Mine().array(3, copy=False))
"""


def test_arrays_that_are_copied_where_they_must_be(tmp_path: Path) -> None:
    done = run(script(tmp_path, NO_COPY))
    assert done.stdout == "(3, False)\n"
    assert "numpy.array(copy=False) (old.py:5)" in done.stderr


def test_what_is_installed_is_not_rewritten_wherever_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "theirs.py").write_text("def data(a): return a.tostring()")
    text = f"import sys; sys.path.append({str(folder)!r}); import theirs, numpy\n"
    done = run(script(tmp_path, text + "theirs.data(numpy.ones(1))"), code=1)
    assert "has no attribute 'tostring'" in done.stderr


def test_strict_leaves_it_out(tmp_path: Path) -> None:
    done = run("--strict", script(tmp_path, PROGRAM), code=1)
    assert "cannot import name 'Mapping'" in done.stderr and "put back" not in done.stderr


def test_nothing_is_said_where_nothing_was_used(tmp_path: Path) -> None:
    done = run(script(tmp_path, "import numpy, collections\ntry: numpy.nothing\n"
                                "except AttributeError as e: print(e)"))  # fmt: skip
    assert "has no attribute 'nothing'" in done.stdout
    assert len(done.stderr.splitlines()) == 1


def _module_is_here(name: str) -> bool:
    return python("-W", "ignore", "-c",
                  f"import importlib.util as u\nprint(u.find_spec({name!r}) is not None)"
                  ).stdout == "True\n"  # fmt: skip


@pytest.mark.long
def test_every_row_gives_something() -> None:
    """Each name of the tables, asked in one process of the modules as they are here."""
    done = python(
        "-W", "ignore", "-c",
        "import importlib, builtins\n"
        "from penstock.tf1 import old_python as o\n"
        "o.restore()\n"
        "for table in (o.RENAMED, o.WRITTEN):\n"
        "    for module, names in table.items():\n"
        "        try: home = importlib.import_module(module)\n"
        "        except ImportError: continue\n"
        "        missing = [n for n in names if getattr(home, n, None) is None]\n"
        "        assert not missing, (module, missing)\n"
        "        print(module, len(names))\n"
        "for name in o.MOVED:\n"
        "    try: importlib.import_module(name)\n"
        "    except ImportError as e: print(e)\n",
    )  # fmt: skip
    renamed = dict(line.split(" ") for line in done.stdout.splitlines()[:2])
    # Newer releases of Python have more abstract classes than the 25 of 3.11.
    assert int(renamed["numpy"]) > 30 and int(renamed["collections"]) >= 25


def test_packages_that_tensorflow_brought(tmp_path: Path) -> None:
    if _module_is_here("six"):
        pytest.skip("six itself is installed, and stays")
    done = run(script(
        tmp_path,
        "import six\nfrom six.moves import xrange, urllib, cPickle\n"
        "import six.moves.urllib.request\nfrom six.moves.urllib.parse import quote\n"
        "print(list(xrange(2)), quote('a b'), cPickle.loads(cPickle.dumps(1)), six.moves.range)\n",
    ))  # fmt: skip
    assert done.stdout == "[0, 1] a%20b 1 <class 'range'>\n"
    assert "six.moves.urllib.parse (old.py:4)" in done.stderr


def test_what_is_missing_says_how_to_get_it(tmp_path: Path) -> None:
    done = run(script(tmp_path, "import keras_applications.vgg"), code=1)
    assert done.stderr.splitlines()[-1] == (
        "penstock run: 'keras_applications' is not here: pip install keras_applications"
    )


# ---- Python 2 ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        'print "step %d" % 3', "try:\n  f()\nexcept ValueError, e:\n  pass",
        "raise ValueError, 'no'", "if a <> b: pass", "os.chmod(f, 0755)", "x = 10L", "exec 'a=1'",
        "y = `x`", "s = ur'a'",
    ],
)  # fmt: skip
def test_the_syntax_of_python_2_is_told(line: str) -> None:
    with pytest.raises(SyntaxError) as error:
        ast.parse(line, "train.py")
    said = python2.advice(error.value)
    assert said and said.startswith("train.py:") and f"{python2.command()} train.py" in said


@pytest.mark.parametrize("line", ["x = (1,", "def f(:\n  pass", "for x in y\n  pass", "a b"])
def test_other_mistakes_are_no_python_2(line: str) -> None:
    with pytest.raises(SyntaxError) as error:
        ast.parse(line)
    assert python2.advice(error.value) is None


def test_a_source_of_python_2_is_one_line_and_its_command_works(tmp_path: Path) -> None:
    program = script(tmp_path, "import tensorflow as tf\nprint 'x', 7 / 2\n")
    done = run(program, code=1)
    said = done.stderr.splitlines()
    assert len(said) == 2 and said[1].startswith(
        f"penstock run: {program}:2 is Python 2 (print 'x'"
    )
    if sys.version_info < (3, 13):
        python("-W", "ignore", *python2.command().split()[1:], program)
        assert run(program).stdout == "x 3.5\n"


def test_names_of_python_2(tmp_path: Path) -> None:
    done = run(script(tmp_path, "for i in xrange(3): pass\n"), code=1)
    assert "NameError: name 'xrange'" in done.stderr
    assert "old.py:1 is Python 2 (xrange): convert it with" in done.stderr.splitlines()[-1]


# ---- what is written here ------------------------------------------------------------------------


def test_versions_are_distutils() -> None:
    loose, strict = old_versions.LooseVersion, old_versions.StrictVersion
    assert loose("1.5.1b2").version == [1, 5, 1, "b", 2] and loose("1.10") > "1.9"
    assert strict("1.5a2") < strict("1.5b1") < strict("1.5") == strict("1.5.0")
    with pytest.raises(ValueError, match="invalid version number '1.15.0-rc1'"):
        strict("1.15.0-rc1")
    assert old_versions.strtobool("Yes") == 1 and old_versions.strtobool("off") == 0


def test_modules_from_files(tmp_path: Path) -> None:
    path = tmp_path / "settings.py"
    path.write_text("rate = 0.5\n")
    assert old_imports.load_source("h3_settings", str(path)).rate == 0.5
    file, found, description = old_imports.find_module("settings", [str(tmp_path)])
    with file:
        assert found == str(path) and description == (".py", "r", old_imports.PY_SOURCE)
    del sys.modules["h3_settings"]


def test_modules_of_every_kind_are_found_and_loaded(tmp_path: Path) -> None:
    """As test runners of that time do, under the lock of imports."""
    folder = tmp_path / "h3_parts"
    folder.mkdir()
    (folder / "__init__.py").write_text("from h3_parts import inner\nrate = inner.rate * 2\n")
    (folder / "inner.py").write_text("rate = 0.25\n")
    old_imports.acquire_lock()
    try:
        assert old_imports.lock_held()
        place = old_imports.find_module("h3_parts", [str(tmp_path)])
        assert place == (None, str(folder), ("", "", old_imports.PKG_DIRECTORY))
        package = old_imports.load_module("h3_parts", *place)
        assert package.rate == 0.5 and package.inner.rate == 0.25
        inner = old_imports.find_module("inner", package.__path__)
        with inner[0]:
            (folder / "inner.py").write_text("rate = 0.125  # changed\n")
            again = old_imports.load_module("h3_parts.inner", *inner)
        assert again.rate == 0.125 and again is not package.inner
    finally:
        old_imports.release_lock()
        for name in ("h3_parts", "h3_parts.inner"):
            sys.modules.pop(name, None)
    extension = old_imports.find_module("array")
    if extension[0] is not None:
        extension[0].close()
    assert extension[2][2] in (old_imports.C_EXTENSION, old_imports.C_BUILTIN)
    assert old_imports.load_module("array", *extension).array("b", [1])[0] == 1
    with pytest.raises(ImportError, match="No module named 'h3_absent'"):
        old_imports.find_module("h3_absent")
    with pytest.raises(ImportError, match="type code 42"):
        old_imports.load_module("x", None, "x", ("", "", 42))


def test_images(tmp_path: Path) -> None:
    image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    path = str(tmp_path / "a.png")
    old_images.imsave(path, image)
    np.testing.assert_array_equal(old_images.imread(path), image)
    assert old_images.imread(path, flatten=True).dtype == np.float32
    assert old_images.imread(path, mode="L").shape == (4, 4)
    assert old_images.imresize(image, 50).shape == (2, 2, 3)
    assert old_images.imresize(image, 2.0).shape == (8, 8, 3)
    np.testing.assert_array_equal(
        old_images.imresize(image, (8, 4), "nearest"), image.repeat(2, axis=0)
    )
    stretched = old_images.imresize(np.array([[0.0, 0.25], [0.5, 1.0]]), (2, 2))
    assert stretched.tolist() == [[0, 64], [128, 255]]
    assert old_images.imrotate(image, 90)[0, 0].tolist() == image[0, 3].tolist()
    with pytest.raises(ValueError, match="suitable array shape"):
        old_images.toimage(np.zeros((5, 5, 5)))


def test_six() -> None:
    class Meta(type):
        pass

    @old_six.add_metaclass(Meta)
    class One:
        __slots__ = ("a",)

    class Two(old_six.with_metaclass(Meta, dict)):  # type: ignore[misc]
        pass

    assert type(One) is Meta and type(Two) is Meta and Two.__mro__[1] is dict
    assert dict(old_six.iteritems({1: 2})) == {1: 2} and old_six.ensure_binary("a") == b"a"
    with pytest.raises(TypeError, match="not expecting type"):
        old_six.ensure_text(1)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        old_six.reraise(KeyError, KeyError("a"))


TEXTS = """\
import h5py, numpy as np, tensorflow
with h5py.File('texts.h5') as f:
    f.attrs['bytes'], f.attrs['text'], f.attrs['names'] = b'b', 't', [b'a', b'bc']
    f['text'], f['number'] = 't', 3.0
    assert f.fid.name == b'texts.h5'
with h5py.File('texts.h5', 'r') as f:
    assert f.attrs['bytes'].decode() == 'b' and f.attrs.get('bytes') == b'b'
    assert f.attrs['text'] == 't' and [n.decode() for n in f.attrs['names']] == ['a', 'bc']
    assert f.attrs['names'].dtype.kind == 'S'
    assert f['text'].value == 't' and f['number'].value == 3.0
print('done')
"""


def test_texts_of_hdf5_files(tmp_path: Path) -> None:
    """As h5py 2.10 gives them: bytes where the file says ASCII."""
    pytest.importorskip("h5py")
    done = run(script(tmp_path, TEXTS), cwd=tmp_path)
    assert done.stdout == "done\n", done.stderr
    assert "h5py.Dataset.value (old.py:10)" in done.stderr.splitlines()[-1]


def test_where_libraries_lie_is_known_before_modules_are_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python 3.13 imports a module to find out, and would ask for it in turn."""
    monkeypatch.setattr(sys, "meta_path", [m for m in sys.meta_path if m is not old_methods.Beside])
    old_methods._libraries.cache_clear()
    old_methods.restore()
    assert old_methods._libraries.cache_info().currsize == 1
