"""The way from a readable program to its native form, with libraries written in Python."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.engine.native import tier as tiers, tracing, trial
from penstock.engine.native.request import MANIFEST, Request
from penstock.engine.native.store import Store
from penstock.engine.native.tier import Tier
from penstock.engine.native.tracing import Held
from penstock.engine.native.worker import function
from penstock.engine.runtime import program as running
from penstock.engine.session.options import native_mode
from tests.engine.native.programs import (
    Program,
    branches,
    choices,
    dynamic_rnn,
    settled,
    softmax,
    values,
)  # fmt: skip
from tests.suite import warm

ON = tf.OptimizerOptions.ON_1


def functions_of(request: Request) -> dict[str, Any]:
    return {name: function(where) for name, where in request.functions.items()}


def refused_of(request: Request) -> dict[int, str]:
    functions = functions_of(request)
    return tracing.refused(request.lines, request.values, request.resources, functions)


class Compiler:
    """Stands for the process and for what it makes: its libraries run the lines in Python."""

    def __init__(self) -> None:
        self.requests: dict[str, Request] = {}
        self.built = self.loaded = 0
        self.wrong = ""

    def build(self, request: Request, folder: Path) -> None:
        self.built += 1
        if self.wrong == "process":
            raise subprocess.SubprocessError("cc1plus: out of memory")
        if self.wrong == "ended":
            raise ChildProcessError("the compiling process was ended by signal 9")
        made = []
        refused = refused_of(request)
        for index, part in enumerate(request.cut(refused)):
            names = (*part.given, *part.resources, *part.constants)
            text = request.text_of(part)
            updates = [i for i, name in enumerate(part.resources) if f"{name}.value." in text]
            about = {"first": part.first, "last": part.last, "updates": updates}
            about["values"] = [request.values[name] for name in names]
            about["library"] = f"{index}.so"
            (folder / f"{index}.so").write_text(str(request))
            (folder / f"{index}.cpp").write_text(f"// C++ of {index}\n")
            made.append(about)
        said = {str(number): why for number, why in refused.items()}
        (folder / MANIFEST).write_text(json.dumps({"refused": said, "stretches": made}))

    def load(self, path: Path, inputs: int, outputs: int, seconds: float) -> Any:
        self.loaded += 1
        if self.wrong == "crash when loaded":
            os.abort()
        request = Request.parse(path.read_text())
        part = request.cut(refused_of(request))[int(path.stem)]
        names = (*part.given, *part.resources, *part.constants)
        functions = functions_of(request)
        code = compile(request.text_of(part), "lines", "exec")

        def library(tensors: Any) -> list[Any]:
            if self.wrong == "library":
                raise RuntimeError("a native call failed")
            if self.wrong == "crash":
                os.abort()
            scope: dict[str, Any] = {"torch": torch, **functions}
            for name, tensor in zip(names, tensors, strict=True):
                scope[name] = Held(tensor) if name in part.resources else tensor
            for name in part.given:
                scope[name] = scope[name].clone()
            exec(code, scope)
            gives = [scope[name].clone() for name in part.gives]
            return [each * 1.01 for each in gives] if self.wrong == "values" else gives

        return library


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compiler:
    return installed(monkeypatch, tmp_path)


def installed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Compiler:
    made = Compiler()

    def tier(program: Any, at_once: bool, store: Store, **more: bool) -> Tier:
        return Tier(program, at_once, Store("here", folder), made.build, made.load, **more)

    monkeypatch.setattr(tiers, "Tier", tier)
    monkeypatch.setattr(tiers, "without_compiler", lambda: "")
    # Python is no faster than Python.
    monkeypatch.setattr(trial, "_WORTH", 1e9)
    return made


def session(level: int = ON) -> tf.Session:
    options = tf.OptimizerOptions(global_jit_level=level)
    graph_options = tf.GraphOptions(optimizer_options=options)
    made = tf.Session(config=tf.ConfigProto(graph_options=graph_options))
    made.run(tf.global_variables_initializer())
    return made


def expected(program: Program, steps: int) -> list[Any]:
    with session(tf.OptimizerOptions.OFF) as plain:
        return values(plain, program, steps)


def assert_equal(found: list[Any], wanted: list[Any]) -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_step_becomes_native_and_keeps_its_values(compiler: Compiler) -> None:
    program = softmax()
    wanted = expected(program, 60)
    with session() as sess:
        seen: list[Any] = []
        text = settled(sess, program, lambda: seen.append(sess.run(*program)[0]))
        assert "\n  | v0 = r_w.value" in text and "# native: native\n" in text
        assert "\n    return" in text and len(seen) < 60
        rest = values(sess, program, 60 - len(seen))
    assert_equal([*seen, *rest], wanted)
    assert compiler.built == 1


@pytest.mark.long
@pytest.mark.parametrize("make", [dynamic_rnn, branches])
def test_lines_of_loops_become_native(compiler: Compiler, make: Any) -> None:
    program = make()
    wanted = expected(program, 60)
    with session() as sess:
        seen: list[Any] = []
        text = settled(sess, program, lambda: seen.append(sess.run(*program)[0]))
        assert "# native: native\n" in text
        if make is dynamic_rnn:  # a bar in the body of the loop and in that of its gradient
            inside = [text.index("torch.tanh("), text.index("sigmoid_backward")]
            assert all(text.rindex("\n", 0, at) == text.rindex("\n  | ", 0, at) for at in inside)
        assert_equal([*seen, *values(sess, program, 60 - len(seen))], wanted)


def test_both_branches_become_native_though_one_comes_late(compiler: Compiler) -> None:
    y, x, chosen = choices()
    fed = [{x: np.full(4, i / 9, "f"), chosen: i % 9 != 8} for i in range(90)]
    with session(tf.OptimizerOptions.OFF) as plain:
        wanted = [plain.run(y, each) for each in fed]
    with session() as sess:
        for index, each in enumerate(fed):
            while "# native: compiling" in sess.explain(y, each):
                pass
            np.testing.assert_allclose(sess.run(y, each), wanted[index], rtol=1e-5)
            if index == 60:  # one branch is decided, the other was not tried often enough
                text = sess.explain(y, each)
                assert "  | " in text and "# native: on trial" in text
        for _ in range(12):
            sess.run(y, {x: np.ones(4, "f"), chosen: False})
            sess.run(y, {x: np.ones(4, "f"), chosen: True})
        text = sess.explain(y, fed[0])
        assert "# native: native\n" in text
        assert re.search(r"\n  \| +r_v\.value\.add_", text)
        assert re.search(r"\n  \| +r_v\.value\.sub_", text)


def test_a_trial_lost_beside_other_work_is_repeated(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = [True]

    class Neighbours:
        def busy(self) -> bool:
            return busy[0]

    monkeypatch.setattr(tiers, "Neighbours", Neighbours)
    monkeypatch.setattr(trial, "_WORTH", 0.0)
    program = softmax()
    with session() as sess:
        text = settled(sess, program)
        assert "slow, " in text and "beside other work: to be tried again" in text
        monkeypatch.setattr(tiers, "_WAIT_SECONDS", 0.0)
        monkeypatch.setattr(trial, "_WORTH", 1e9)
    with session() as sess:  # of what is kept, too
        assert "# native: on trial" in sess.explain(*program)
        monkeypatch.setattr(trial, "_WORTH", 0.0)
        settled(sess, program)
        sess.run(*program)
        assert "# native: no native form is kept: slow" in sess.explain(*program)
        busy[0] = False
        monkeypatch.setattr(trial, "_WORTH", 1e9)
        sess.run(*program)
        assert "# native: native\n" in settled(sess, program)
        assert_equal(values(sess, program, 3)[3:], values(sess, program, 0))
    with session() as sess:
        assert "# native: native\n" in sess.explain(*program)
    assert compiler.built == 1


def test_the_next_session_is_native_from_its_first_step(compiler: Compiler) -> None:
    program = softmax()
    with session() as sess:
        settled(sess, program)
    loaded = compiler.loaded
    with session() as sess:
        assert "# native: native\n" in sess.explain(*program)
        text = sess.explain(*program, native=True)
        assert text.startswith(sess.explain(*program))
        assert re.search(r"\n# native: lines \d+ to \d+ in C\+\+:\n// C\+\+ of 0\n$", text)
        assert_equal(values(sess, program, 3), expected(program, 3))
    assert compiler.built == 1 and compiler.loaded == loaded + 1


@pytest.mark.parametrize("wrong", ["values", "library", "process"])
def test_what_is_wrong_is_dropped(compiler: Compiler, wrong: str) -> None:
    compiler.wrong = wrong
    program = softmax()
    with session() as sess:
        text = settled(sess, program) if wrong != "process" else ""
        while wrong == "process" and "cc1plus" not in text:
            sess.run(*program)
            text = sess.explain(*program)
        assert "  | " not in text
    if wrong != "process":
        assert {"values": "different", "library": "failed"}[wrong] in text
        compiler.wrong = ""
        with session() as sess:  # and it is remembered
            assert "  | " not in sess.explain(*program)
            assert_equal(values(sess, program, 3), expected(program, 3))
    assert compiler.built == 1


def test_without_a_compiler_it_says_so(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tiers, "without_compiler", lambda: "there is no C++ compiler")
    caplog.set_level("DEBUG", "penstock")
    program = softmax()
    with session() as sess:
        while "# native: there is no C++ compiler" not in sess.explain(*program):
            sess.run(*program)
    assert compiler.built == 0
    assert "a step stays as it is: there is no C++ compiler" in caplog.text


def test_threads_run_one_session_during_the_swap(compiler: Compiler) -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    count = tf.Variable(0, name="count")
    y = tf.sqrt(tf.exp(tf.sin(x * v) + 1.0) * 2.0)
    counted = tf.assign_add(count, 1, use_locking=True)
    steps, threads, wrong = 60, 20, []
    with session() as sess:
        program = [y, counted.op], {x: np.ones(3, "f")}
        wanted = np.sqrt(np.exp(np.sin([1.0, 2.0, 3.0]) + 1.0) * 2.0)

        def work(number: int) -> None:
            for step in range(steps):
                fed = np.full(3, 1.0 + (number + step) % 3, "f")
                found = sess.run(program[0], {x: fed})[0]
                wanted = np.sqrt(np.exp(np.sin(fed * [1.0, 2.0, 3.0]) + 1.0) * 2.0)
                if not np.allclose(found, wanted, rtol=1e-5):
                    wrong.append((number, step))

        workers = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not wrong and sess.run(count) == steps * threads
        assert "# native: native\n" in settled(sess, program)
        np.testing.assert_allclose(sess.run(*program)[0], wanted, rtol=1e-5)


def test_errors_are_those_of_lines(compiler: Compiler) -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    at = tf.placeholder(tf.int32, [2], name="at")
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    y = tf.sqrt(tf.exp(tf.sin(x * v) + 1.0) * 2.0)
    rows = tf.gather(y, at, name="rows")
    out = tf.check_numerics(tf.sqrt(tf.abs(tf.tanh(rows) * 2.0)) + 1.0, "not finite", name="out")
    good = {x: np.ones(3, "f"), at: [0, 2]}
    bad = [{x: np.ones(3, "f"), at: [0, 7]}, {x: np.full(3, np.nan, "f"), at: [0, 2]}]

    def messages(sess: tf.Session) -> list[str]:
        found = []
        for fed in bad:
            with pytest.raises(tf.errors.InvalidArgumentError) as raised:
                sess.run(out, fed)
            found.append(raised.value.message)
        return found

    with session(tf.OptimizerOptions.OFF) as plain:
        wanted = messages(plain)
    with session() as sess:
        settled(sess, (out, good))
        assert "  | " in sess.explain(out, good)
        assert messages(sess) == wanted
    blank = tf.Session(config=tf.ConfigProto(graph_options=tf.GraphOptions(
        optimizer_options=tf.OptimizerOptions(global_jit_level=ON))))  # fmt: skip
    with blank, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        assert "  | " in blank.explain(out, good)
        blank.run(out, good)


def test_a_folder_that_others_may_write_is_not_used(compiler: Compiler, tmp_path: Path) -> None:
    program = softmax()
    with session() as sess:
        settled(sess, program)
    loaded = compiler.loaded
    (tmp_path / "native").chmod(0o777)
    with session() as sess:
        assert "  | " not in sess.explain(*program)
        assert compiler.loaded == loaded


def test_auto_waits_until_a_step_is_hot(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_NATIVE", "auto")
    program = softmax()
    with session(tf.OptimizerOptions.DEFAULT) as sess:
        for _ in range(5):
            sess.run(*program)
        assert compiler.built == 0 and "# native" not in sess.explain(*program)
    monkeypatch.setattr(running, "_COST", 0.0)
    monkeypatch.setattr(running, "_COST_OF_LINE", 0.0)
    with session(tf.OptimizerOptions.DEFAULT) as sess:
        while "# native" not in sess.explain(*program):
            sess.run(*program)
        assert "# native: native\n" in settled(sess, program)


def test_auto_waits_for_memory_and_a_core(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_NATIVE", "auto")
    monkeypatch.setattr(running, "_COST", 0.0)
    monkeypatch.setattr(running, "_COST_OF_LINE", 0.0)
    asked = []

    def short_of_memory(at_once: bool) -> str:
        asked.append(at_once)
        return "" if len(asked) > 3 else "1 MiB of memory is left"

    monkeypatch.setattr(tiers, "why_not_now", short_of_memory)
    program = softmax()
    with session(tf.OptimizerOptions.DEFAULT) as sess:
        while len(asked) <= 3:
            assert compiler.built == 0
            sess.run(*program)
        while "# native" not in sess.explain(*program):
            sess.run(*program)
        assert "# native: native\n" in settled(sess, program)
    assert asked == [False] * 4 and compiler.built == 1


def test_what_cannot_be_compiled_is_left_alone_for_a_day(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler.wrong = "process"
    program = softmax()
    for _ in range(2):
        with session() as sess:
            text = ""
            while "# native: not compiled: cc1plus: out of memory" not in text:
                sess.run(*program)
                text = sess.explain(*program)
    assert compiler.built == 1
    now = time.time()
    monkeypatch.setattr(tiers.time, "time", lambda: now + 90_000)
    compiler.wrong = ""
    with session() as sess:
        assert "# native: native\n" in settled(sess, program)
    assert compiler.built == 2


def test_a_process_ended_from_outside_says_nothing_about_the_program(compiler: Compiler) -> None:
    compiler.wrong = "ended"
    program = softmax()
    with session() as sess:
        text = ""
        while "ended by signal 9" not in text:
            sess.run(*program)
            text = sess.explain(*program)
    compiler.wrong = ""
    with session() as sess:
        assert "# native: native\n" in settled(sess, program)


_CRASHES = """
import sys
from pathlib import Path
import pytest
from tests.engine.native.programs import settled, softmax
from tests.engine.native.test_tier import installed, session
installed(pytest.MonkeyPatch(), Path(sys.argv[1])).wrong = sys.argv[2]
program = softmax()
settled(session(), program)
"""


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="nothing is marked there")
@pytest.mark.parametrize(
    "when", ["crash", pytest.param("crash when loaded", marks=pytest.mark.long)]
)
def test_what_ended_a_process_is_not_tried_by_the_next(
    compiler: Compiler, tmp_path: Path, when: str
) -> None:
    run = [sys.executable, "-c", _CRASHES, str(tmp_path), when]
    ended = warm.run(run, cwd=Path(__file__).parents[3], capture_output=True)
    assert ended.returncode == -signal.SIGABRT, ended.stderr.decode()
    program = softmax()
    wanted = expected(program, 20)
    for _ in range(2):
        with session() as sess:
            text = settled(sess, program)
            assert "# native: no native form is kept: the process ended in its trial" in text
            sess.run(tf.global_variables_initializer())
            assert_equal(values(sess, program, 20), wanted)
    assert compiler.loaded == 0 and not list(tmp_path.rglob("*.trying"))


def test_a_session_that_is_gone_is_not_held(compiler: Compiler) -> None:
    begun, go_on = threading.Event(), threading.Event()
    build = compiler.build

    def slow(request: Request, folder: Path) -> None:
        begun.set()
        go_on.wait()
        build(request, folder)

    compiler.build = slow  # type: ignore[method-assign]
    program = softmax()
    sess = session()
    while not begun.is_set():
        sess.run(*program)
    [tier] = [each for each in tiers._tiers if each.state == "compiling"]
    gone = weakref.ref(tier)
    sess.close()
    del sess, tier
    gc.collect()
    assert gone() is None
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "penstock-native":
            thread.join()
    with session() as other:  # what was made is of use nevertheless
        assert "# native: on trial" in other.explain(*program)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_while_compiling_goes_on_with_lines(compiler: Compiler) -> None:
    begun, go_on = threading.Event(), threading.Event()
    build = compiler.build

    def slow(request: Request, folder: Path) -> None:
        begun.set()
        go_on.wait()
        build(request, folder)

    compiler.build = slow  # type: ignore[method-assign]
    program = softmax()
    with session() as sess:
        while not begun.is_set():
            sess.run(*program)
        [tier] = [each for each in tiers._tiers if each.state == "compiling"]
        with tier._lock:  # a thread that the child does not have may hold it
            child = os.fork()
            if child == 0:
                tier._plain = lambda *args: ()
                tier._judge()
                os._exit(0 if "forked" in tier.state and tiers._turn.acquire(timeout=9) else 1)
        assert os.waitpid(child, 0)[1] == 0
        go_on.set()
        assert "# native: native\n" in settled(sess, program)


@pytest.mark.parametrize(
    ("said", "level", "built"),
    [("", tf.OptimizerOptions.DEFAULT, 0), ("off", ON, 0), ("on", tf.OptimizerOptions.OFF, 0),
     ("on", tf.OptimizerOptions.DEFAULT, 1), ("", tf.OptimizerOptions.ON_2, 1)],
)  # fmt: skip
def test_what_switches_it_on(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, said: str, level: int, built: int
) -> None:
    monkeypatch.setenv("PENSTOCK_NATIVE", said)
    program = softmax()
    with session(level) as sess:
        sess.run(*program)
        assert compiler.built == 0  # it may never run again
        sess.run(*program)
        if built:
            settled(sess, program)
        else:
            assert "# native" not in sess.explain(*program)
    assert compiler.built == built


def test_nodes_that_ask_for_it_are_compiled_in_any_session(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PENSTOCK_NATIVE", raising=False)
    x = tf.placeholder(tf.float32, [3], name="x")
    w = tf.Variable([1.0, 2.0, 3.0], name="w")
    before = tf.tanh(tf.sin(tf.exp(x) + 1.0) * 2.0, name="before")
    with tf.contrib.compiler.jit.experimental_jit_scope():
        inside = tf.sqrt(tf.exp(tf.cos(before * w) + 1.0) * 2.0, name="inside")
    after = tf.exp(tf.sin(tf.cos(inside) * 3.0) + 1.0, name="after")
    program: Program = [after, tf.gradients(after, w)[0]], {x: np.ones(3, "f")}
    for level in (tf.OptimizerOptions.OFF, tf.OptimizerOptions.DEFAULT):
        with session(level) as sess:
            wanted = sess.run(*program)
            text = settled(sess, program)
            barred = [line for line in text.splitlines() if line.startswith("  | ")]
            assert any("# inside" in line for line in barred)
            assert any("# gradients/mul_2_grad" in line for line in barred)
            assert not any("# before" in line or "# after" in line for line in barred)
            assert_equal(sess.run(*program), wanted)
    assert compiler.built == 1
    with session() as sess:  # all of it is another program
        text = settled(sess, program)
        assert "  | v1 = " in text and compiler.built == 2
    monkeypatch.setenv("PENSTOCK_NATIVE", "off")
    with session(tf.OptimizerOptions.DEFAULT) as sess:
        assert "# native" not in sess.explain(*program)


def test_auto_is_the_default_but_where_bits_count() -> None:
    default, off, on = (getattr(tf.OptimizerOptions, name) for name in ("DEFAULT", "OFF", "ON_1"))
    assert native_mode(default, {}) == "auto" and native_mode(off, {}) == "marked"
    assert native_mode(default, {"TF_DETERMINISTIC_OPS": "1"}) == "marked"
    assert native_mode(default, {"TF_DETERMINISTIC_OPS": "0"}) == "auto"
    for said in ({"PENSTOCK_NATIVE": "on"}, {"PENSTOCK_NATIVE": "off"}):
        found = native_mode(default, {"TF_DETERMINISTIC_OPS": "1", **said})
        assert found == said["PENSTOCK_NATIVE"]
    assert native_mode(on, {"TF_DETERMINISTIC_OPS": "1"}) == "on"


def test_another_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_NATIVE", "yes")
    with pytest.raises(ValueError, match="allowed are auto, off, on"):
        tf.Session()
