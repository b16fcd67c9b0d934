"""``penstock run``: the program is ``__main__``; its imports, arguments and exit are its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tf1.processes import run


def script(folder: Path, text: str, name: str = "train.py") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_program_as_it_was_written(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        "import sys\n"
        "import tensorflow as tf\n"
        "tf.app.flags.DEFINE_integer('steps', 1, 'how many')\n"
        "tf.app.flags.DEFINE_bool('debug', False, 'tell more')\n"
        "FLAGS = tf.app.flags.FLAGS\n"
        "def main(_):\n"
        "    x = tf.Variable(1.0)\n"
        "    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(x))\n"
        "    with tf.Session() as sess:\n"
        "        sess.run(tf.global_variables_initializer())\n"
        "        for _ in range(FLAGS.steps): sess.run(step)\n"
        "        print('x %.3f' % sess.run(x), FLAGS.debug, sys.argv[0] == __file__, __name__)\n"
        "if __name__ == '__main__':\n"
        "    tf.app.run()\n",
    )
    done = run(program, "--steps", "2", "--debug")
    assert done.stdout == "x 0.640 True True __main__\n"
    assert done.stderr.splitlines() == [
        "penstock run: 'tensorflow' is Penstock 0.1.0, as TensorFlow 1.15.0"
    ]


def test_nothing_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        "import sys\nimport tensorflow as tf, tensorflow.python\n"
        "found = [m for m in ('torch', 'numpy', 'penstock.ops') if m in sys.modules]\n"
        "print(tf.__version__, found)",
    )
    assert run("--tf-version", "1.4.0", program).stdout == "1.4.0 []\n"


def test_modules_beside_the_script_and_a_module_by_name(tmp_path: Path) -> None:
    package = tmp_path / "work"
    package.mkdir()
    script(package, "", "__init__.py")
    script(package, "import sys\nfrom work import job\njob.go(sys.argv[1:])\n", "__main__.py")
    script(package, "import tensorflow as tf\ndef go(words): print(tf.VERSION, words)\n", "job.py")
    assert run("-m", "work", "-m", "x", cwd=tmp_path).stdout == "1.15.0 ['-m', 'x']\n"
    beside = script(package, "import job\njob.go(__package__)\n", "beside.py")
    assert run(beside).stdout == "1.15.0 None\n"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("import sys; sys.exit(3)", 3, []),
        ("raise SystemExit('gone')", 1, ["gone"]),
        ("raise KeyboardInterrupt", 130, ["KeyboardInterrupt"]),
    ],
)
def test_the_exit_status_is_the_programs(
    text: str, code: int, said: list[str], tmp_path: Path
) -> None:
    done = run(script(tmp_path, text), code=code)
    assert done.stderr.splitlines()[-1:] == (said or done.stderr.splitlines()[-1:])
    assert len(done.stderr.splitlines()) == 1 + (4 if code == 130 else len(said)), done.stderr


def test_an_error_is_shown_from_the_programs_first_line(tmp_path: Path) -> None:
    program = script(tmp_path, "def f():\n    return 1 / 0\n\nf()\n")
    said = run(program, code=1).stderr.splitlines()[1:]
    assert said[:2] == [
        "Traceback (most recent call last):",
        f'  File "{program}", line 4, in <module>',
    ]
    assert said[-1] == "ZeroDivisionError: division by zero"
    assert not [line for line in said if "penstock" in line]


@pytest.mark.long
def test_what_cannot_be_run(tmp_path: Path) -> None:
    assert "no.py: No such file" in run("no.py", code=2).stderr
    assert "no module 'nowhere.at.all'" in run("-m", "nowhere.at.all", code=2).stderr
    assert "what is to be run is missing" in run(code=2).stderr
    assert "no such option: --nothing" in run("--nothing", "x.py", code=2).stderr


def test_an_installed_tensorflow_stays_unless_told(tmp_path: Path) -> None:
    (tmp_path / "tensorflow").mkdir()
    theirs = tmp_path / "tensorflow" / "__init__.py"
    theirs.write_text("VERSION = 'theirs'\n")
    program = script(tmp_path, "import tensorflow as tf\nprint(tf.VERSION)\n")
    done = run(program, code=2)
    assert f"'tensorflow' stays the installed one, {theirs}; --instead" in done.stderr
    done = run("--instead", program)
    assert done.stdout == "1.15.0\n" and f"in place of {theirs}" in done.stderr


def test_a_process_that_multiprocessing_spawns_begins_as_its_parent(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        "import multiprocessing\n"
        "from collections import Mapping\n"
        "import tensorflow as tf\n"
        "def work(x): return tf.__version__, issubclass(dict, Mapping), x * 2\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(work, [1, 2]))\n",
    )
    done = run("--tf-version", "1.4.0", program)
    assert done.stdout == "[('1.4.0', True, 2), ('1.4.0', True, 4)]\n"
