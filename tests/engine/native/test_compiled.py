"""Native forms by the C++ compiler: the same values, from the first step of the next process on."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.engine.native import compiling, process, trial
from penstock.engine.native.library import load
from penstock.engine.native.process import without_compiler
from penstock.engine.native.tracing import Held
from penstock.ops.state import state_scatter
from tests.benchmarks.processes import wait_until_ended
from tests.engine.native import programs

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(without_compiler()), reason="there is no C++ compiler that works"),
]


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    monkeypatch.setenv("PENSTOCK_NATIVE", "on")
    # Whatever is equal is taken: these tests are about values.
    monkeypatch.setattr(trial, "_WORTH", 1e9)
    # Beside the other tests' processes a compiler that takes what is left would hardly get on.
    monkeypatch.setattr(process, "_keep_small", lambda pid: None)


def session() -> tf.Session:
    tf.set_random_seed(5)
    made = tf.Session()
    made.run(tf.global_variables_initializer())
    return made


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("make", "native"),
    [
        (programs.softmax, True),
        (programs.mlp_adam, True),
        (programs.word2vec, True),
        (programs.lstm, True),
        (programs.branches, True),
        (programs.dynamic_rnn, True),
    ],
)
def test_values_are_the_same(
    make: Callable[[], programs.Program], native: bool, on: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = make()
    with session() as sess:
        seen: list[Any] = []
        text = programs.settled(sess, program, lambda: seen.append(sess.run(*program)[0]))
        assert ("\n  | " in text) is native, text
        if make is programs.word2vec:
            assert text.count("\n  | subtract_rows") == 3, text
        assert "AOTInductorModel::run_impl" in sess.explain(*program, native=True)
        found = [*seen, *programs.values(sess, program, 20)]
    monkeypatch.setenv("PENSTOCK_NATIVE", "off")
    with session() as sess:
        assert "# native" not in sess.explain(*program)
        wanted = programs.values(sess, program, len(seen) + 20)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-5)
    monkeypatch.setenv("PENSTOCK_NATIVE", "on")
    with session() as sess:  # of what lies on disk, from the first step on
        assert ("\n  | " in sess.explain(*program)) is native
        again = programs.values(sess, program, len(seen) + 20)
    for one, other in zip(again, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-5)


@pytest.mark.timeout(900)
def test_an_index_out_of_range_is_an_error_of_its_line(
    on: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = tf.placeholder(tf.int32, [3, 2], name="words")
    labels = tf.placeholder(tf.int64, [6], name="labels")
    table = tf.Variable(np.arange(40.0).reshape(10, 4).astype("f"), name="table")
    logits = tf.reshape(tf.sin(tf.nn.embedding_lookup(table, words, name="rows")), [6, 4])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits * 2.0, name="losses"
    )
    good = {words: [[0, 1], [2, 3], [4, 9]], labels: [0, 1, 2, 3, 0, 1]}
    bad = [{**good, words: [[0, 1], [2, 10], [4, 9]]}, {**good, words: [[0, -1]] * 3},
           {**good, labels: [0, 1, 2, 3, 4, 1]}]  # fmt: skip

    def said(sess: tf.Session) -> list[Any]:
        found: list[Any] = [sess.run([losses, tf.gradients(losses, logits)[0]], good)]
        for fed in bad:
            with pytest.raises(tf.errors.InvalidArgumentError) as raised:
                sess.run(losses, fed)
            found.append((raised.value.op.name, raised.value.message))
        return found

    with session() as sess:
        text = programs.settled(sess, (losses, good))
        at = text.index("(v0, f0)")
        assert text.rindex("\n", 0, at) == text.rindex("\n  | ", 0, at)
        found = said(sess)
    monkeypatch.setenv("PENSTOCK_NATIVE", "off")
    with session() as sess:
        wanted = said(sess)
    np.testing.assert_allclose(found[0][0], wanted[0][0], rtol=1e-5)
    np.testing.assert_allclose(found[0][1], wanted[0][1], rtol=1e-5, atol=1e-6)
    assert found[1:] == wanted[1:]


@pytest.mark.timeout(300)
def test_rows_that_are_added_may_lie_in_the_variable(tmp_path: Path) -> None:
    functions = {"add": state_scatter._add_rows, "subtract": state_scatter._subtract_rows}
    part = "v1 = r_a.value.narrow(0, 0, 6)\n"
    text = f"{part}add(r_a, v0, v1)\nv2 = r_a.value * 2.0\nsubtract(r_a, v0, v1)\nv3 = v2 + 1.0"
    table = [[50, 16], [16, 1], "float32"]
    values = {"v0": [[6], [1], "int32"], "r_a": table, "v3": table}
    graph, inputs, *_ = compiling.traced(text, ["v0"], ["r_a"], [], ["v3"], values, functions)
    compiling.build(graph, inputs, tmp_path / "0.so", 2)
    index, start = torch.tensor([1, 1, 0, 5, 2, 1], dtype=torch.int32), torch.randn(50, 16)
    found = start.clone()
    [given] = load(tmp_path / "0.so", 2, 1)([index, found])
    scope: dict[str, Any] = {"r_a": Held(start), "v0": index, **functions}
    exec(text, scope)
    assert torch.equal(found, start) and torch.equal(given, scope["v3"])


_NEXT = """
import sys
import penstock as tf
from penstock.engine.native import trial
from tests.engine.native import programs
trial._WORTH = 1e9
program = programs.softmax()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    text = programs.settled(sess, program) if sys.argv[1] == "wait" else sess.explain(*program)
    print(text)
    print(sess.run(*program)[0], "torch._inductor.compile_fx" in sys.modules)
"""


def run(argument: str, **environ: str) -> str:
    env = {**os.environ, "PENSTOCK_NATIVE": "on", **environ}
    command = [sys.executable, "-c", _NEXT, argument]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.timeout(900)
def test_the_next_process_is_native_from_its_first_step(tmp_path: Path) -> None:
    assert "\n  | " in run("wait", PENSTOCK_CACHE=str(tmp_path))
    said = run("first", PENSTOCK_CACHE=str(tmp_path))
    assert "\n  | " in said and "# native: native\n" in said
    assert said.rstrip().endswith("False")  # the compiler stays out of the user's process


@pytest.mark.timeout(900)
def test_a_broken_compiler_changes_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    # It builds what is tried first, a function of C++, and nothing that torch makes.
    broken.write_text('#!/bin/sh\ncase "$*" in *torch*) echo broken >&2; exit 1;; esac\n'
                      'exec c++ "$@"\n')  # fmt: skip
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    said = run("wait", PENSTOCK_CACHE=str(tmp_path / "cache"), CXX=str(broken))
    assert "\n  | " not in said and "# native: not compiled" in said
    said = run("wait", PENSTOCK_CACHE=str(tmp_path / "none"), CXX="/bin/false", CC="", PATH="/none")
    assert "# native: there is no C++ compiler" in said


def test_the_compiling_process_ends_with_the_one_that_asked(tmp_path: Path) -> None:
    folder = tmp_path / "new-1"
    folder.mkdir()
    reader, writer = os.pipe()  # the request never comes to its end
    asks = f"""
import os, subprocess, sys, time
worker = [sys.executable, "-m", "penstock.engine.native.worker", {str(folder)!r}, str(os.getpid())]
print(subprocess.Popen(worker, stdin={reader}).pid, flush=True)
time.sleep(1000)
"""
    with subprocess.Popen(
        [sys.executable, "-c", asks], stdout=subprocess.PIPE, text=True, cwd=ROOT,
        pass_fds=[reader],
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    wait_until_ended(child)
    assert not folder.exists()
    os.close(reader)
    os.close(writer)


@pytest.mark.timeout(900)
def test_names_of_a_graph_do_not_reach_the_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = "x_HOSTILE"
    given = {"v0": [[4], [1], "float32"], "r_v_HOSTILE": [[4], [1], "float32"]}
    text = f"v1 = torch.sin(v0)  # {name}\nr_v_HOSTILE.value.add_(v1, alpha=0.5)\n"
    graph, inputs, updates, _ = compiling.traced(
        text, ["v0"], ["r_v_HOSTILE"], [], ["v1"], given, {}
    )
    compiling.build(graph, inputs, tmp_path / "library.so", 1)
    written = list(tmp_path.rglob("*.cpp"))
    assert updates == [0] and written
    assert not any("HOSTILE" in each.read_text() for each in written)
    for seconds in (0.0, 1.0):  # kept and let go of, the interpreter's lock
        call = load(tmp_path / "library.so", 2, 1, seconds)
        x, held = torch.arange(4.0), torch.ones(4)
        [y] = call([x, held])
        np.testing.assert_allclose(y, np.sin(np.arange(4.0)), rtol=1e-6)
        np.testing.assert_allclose(held, 1 + 0.5 * np.sin(np.arange(4.0)), rtol=1e-6)
        assert sys.getrefcount(x) == 2 and x.tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.timeout(900)
def test_a_long_call_lets_others_run(tmp_path: Path) -> None:
    about = {"v0": [[700, 700], [700, 1], "float32"]}
    text = "v1 = torch.mm(v0, v0)\n" + "v1 = torch.mm(v1, v0)\n" * 30
    graph, inputs, _, _ = compiling.traced(text, ["v0"], [], [], ["v1"], about, {})
    compiling.build(graph, inputs, tmp_path / "library.so", 1)
    call = load(tmp_path / "library.so", 1, 1, 1.0)
    x = torch.eye(700)
    results: list[Any] = []
    workers = [threading.Thread(target=lambda: results.append(call([x]))) for _ in range(6)]
    for worker in workers:
        worker.start()
    turns = 0
    while any(worker.is_alive() for worker in workers):
        turns += 1
    assert len(results) == 6 and all(torch.equal(y, x) for [y] in results)
    assert turns > 1000
