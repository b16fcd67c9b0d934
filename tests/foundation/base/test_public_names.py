"""Names that are loaded when they are first used, and packages under other names."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import penstock as tf
from penstock.foundation.base import public_names

PACKAGE = Path(tf.__file__).parent
PLACES = public_names.places(PACKAGE / "__init__.pyi")


def _run(code: str) -> None:
    # What asks for a server that is not there need not wait for it.
    environment = {**os.environ, "PENSTOCK_UP_SECONDS": "0.5"}
    subprocess.run([sys.executable, "-c", code], check=True, cwd=PACKAGE.parent, env=environment)


@pytest.mark.long
def test_importing_brings_in_nothing_that_is_not_named() -> None:
    _run(
        "import sys, penstock\n"
        "assert not [m for m in ('torch', 'numpy', 'penstock.ops') if m in sys.modules]\n"
        "penstock.constant\n"
        "found = [m for m in ('grpc', 'penstock.contrib', 'absl.flags') if m in sys.modules]\n"
        "assert not found, found\n"
    )


@pytest.mark.parametrize("name", sorted(tf.__all__))
def test_every_name_is_where_the_stub_says(name: str) -> None:
    found = getattr(tf, name)
    if name in PLACES:
        assert found is PLACES[name].load()
    assert name in dir(tf)


@pytest.mark.long
@pytest.mark.parametrize(
    "code",
    [
        # What other modules give: a guard, operators, kinds of targets, forms in files.
        "a = tf.Assert(tf.placeholder(tf.bool), [tf.constant(1.0)])\nassert a.type == 'Merge', a",
        "assert (tf.ragged.constant([[1], []]) + 1).shape.rank == 2",
        "try: tf.Session('grpc://localhost:1').run(tf.constant(1))\n"
        "except tf.errors.UnavailableError: pass\nelse: raise AssertionError",
        "from penstock.foundation.graph import nest\n"
        "x = tf.SparseTensor([[0]], [1], [1])\n"
        "assert len(nest.flatten(x, expand_composites=True)) == 3",
        "from penstock.foundation.graph import proto_functions as p\n"
        "tf.Graph\n"
        "for key in ('savers', 'queue_runners', 'while_context', 'variables'):\n"
        "    assert p.get_from_proto_function(key), key",
    ],
)
def test_the_first_name_brings_what_others_rely_on(code: str) -> None:
    _run(f"import penstock as tf\n{code}")


def test_a_thread_waits_for_what_another_loads_before_the_first_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "slowly"
    package.mkdir()
    (package / "__init__.pyi").write_text("from slowly.named import thing as thing\n")
    (package / "__init__.py").write_text(
        "from penstock.foundation.base.public_names import of_package\n"
        "__all__ = ['thing']\n"
        "__getattr__, __dir__, __all__ = of_package(__name__, 'the page', 'slowly.first')\n"
    )
    (package / "first.py").write_text("import time\ntime.sleep(0.3)\nready = True\n")
    (package / "named.py").write_text("thing = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    slowly = importlib.import_module("slowly")
    other = threading.Thread(target=lambda: slowly.thing)
    other.start()
    while "slowly.first" not in sys.modules:
        pass
    assert slowly.thing == 3 and sys.modules["slowly.first"].ready
    other.join()


def test_dir_shows_no_rooms() -> None:
    importlib.import_module("penstock.foundation.graph.build")
    assert not {"graph", "base", "ops", "session"} & set(dir(tf))


def test_a_room_with_a_public_name_is_that_namespace() -> None:
    # Importing such a room sets the package's attribute, whatever was there.
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} & set(PLACES)
    assert {room: PLACES[room].module for room in rooms} == dict.fromkeys(rooms, "penstock")


def test_a_stub_says_renamed_names_by_assignment(tmp_path: Path) -> None:
    stub = tmp_path / "names.pyi"
    stub.write_text("from os.path import join as join, split as _cut\ncut = _cut\nn: int\n")
    assert public_names.places(stub) == {"join": ("os.path", "join"), "cut": ("os.path", "split")}


@pytest.mark.parametrize(
    ("name", "hint"),
    [("constnt", "; the nearest names are constant; "), ("conv2d", "; docs/ops.md")],
)
def test_a_missing_name_says_what_there_is(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=f"'penstock' has no attribute '{name}'{hint}"):
        getattr(tf, name)


@pytest.mark.long
def test_another_name_gives_the_same_modules() -> None:
    _run(
        "import penstock.compat.v1.nn.rnn_cell as cells\n"
        "from penstock.compat.v1.train import AdamOptimizer\n"
        "import penstock, penstock.compat.v1 as v1\n"
        "assert v1 is penstock and cells is penstock.library.nn.rnn_cell\n"
        "assert AdamOptimizer is penstock.training.train.AdamOptimizer\n"
        "assert penstock.library.nn.__spec__.name == 'penstock.library.nn'\n"
        "try: import penstock.compat.v1.nnn\n"
        "except ModuleNotFoundError as e: assert \"'penstock.compat.v1.nnn'\" in str(e), e\n"
        "else: raise AssertionError\n"
    )
