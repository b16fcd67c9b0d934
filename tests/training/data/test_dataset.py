"""Datasets: what comes out of pipelines, iterators of all kinds, waiting, GraphDefs."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.peers import PYTHON, ROOT, TF115, needs
from tests.suite.clock import PATIENCE, Clock, wait_until
from tests.training.data import dataset_pipelines

HERE = Path(__file__).parent
# What TensorFlow 1.15 gives; ``test_expected_is_what_tensorflow_gives`` holds it to that.
EXPECTED: dict[str, Any] = json.loads((HERE / "dataset_pipelines.json").read_text())
Dataset = tf.data.Dataset
# Where TensorFlow 2 is not as 1.15.
DIFFERENT_IN_2 = {
    "sparse": "2 keeps the static shape of a sparse tensor whose shape is a constant",
    "flatbad": "2 fails in a code path of its own, with AttributeError",
}


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    folder = str(tmp_path_factory.mktemp("files"))
    return folder, dataset_pipelines.pipelines(tf, folder)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_pipeline(name: str, pipelines: tuple[str, dict[str, Any]]) -> None:
    folder, made = pipelines
    found = json.loads(
        json.dumps(dataset_pipelines.outcome(tf, made[name])).replace(folder, "FOLDER")
    )
    assert found == EXPECTED[name]


@pytest.mark.long
@pytest.mark.parametrize("which", ["tf1", "tf2"])
def test_expected_is_what_tensorflow_gives(which: str, tmp_path: Path) -> None:
    needs(PYTHON[which])
    script = HERE / "dataset_pipelines.py"
    run = subprocess.run(
        [PYTHON[which], script, "tensorflow", str(tmp_path / "files")],
        capture_output=True, text=True,
    )  # fmt: skip
    rows = dict(json.loads(line) for line in run.stdout.splitlines() if line[:2] == '["')
    assert set(rows) == set(EXPECTED), run.stderr[-2000:]
    differing = {name for name in rows if rows[name] != EXPECTED[name]}
    assert differing == (set(DIFFERENT_IN_2) if which == "tf2" else set())


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as made:
        yield made


def drained(session: Any, element: Any, limit: int = 100) -> list[Any]:
    found = []
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        for _ in range(limit):
            found.append(session.run(element))
    return found


# ---- iterators -----------------------------------------------------------------------------------


def test_initializer_starts_over_with_what_is_fed(session: Any) -> None:
    data = tf.placeholder(tf.int32, [None])
    iterator = Dataset.from_tensor_slices(data).make_initializable_iterator()
    element = iterator.get_next()
    for fed in ([1, 2], [3, 4, 5]):
        session.run(iterator.initializer, {data: fed})
        assert drained(session, element) == fed


def test_what_is_fed_is_copied(session: Any) -> None:
    data = tf.placeholder(tf.float32, [None])
    fed = np.ones(3, np.float32)
    iterator = Dataset.from_tensor_slices(data).make_initializable_iterator()
    element = iterator.get_next()
    session.run(iterator.initializer, {data: fed})
    fed[:] = 7
    assert drained(session, element) == [1, 1, 1]


def test_elements_belong_to_the_step(session: Any) -> None:
    """A step may overwrite what it takes; the next pass over the same data sees none of it."""
    data = Dataset.from_tensors(np.ones(4, np.float32)).repeat(3)
    element = data.make_one_shot_iterator().get_next()
    for _ in range(3):
        value = session.run(element)
        assert value.tolist() == [1, 1, 1, 1]
        value[:] = 5


def test_not_initialized(session: Any) -> None:
    element = Dataset.range(2).make_initializable_iterator().get_next()
    with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
        session.run(element)


def test_structure_takes_several_datasets(session: Any) -> None:
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    element = iterator.get_next()
    first = iterator.make_initializer(Dataset.range(2))
    second = iterator.make_initializer(Dataset.range(5, 7))
    session.run(first)
    assert session.run(element) == 0
    session.run(second)
    assert drained(session, element) == [5, 6]
    with pytest.raises(TypeError, match="Expected output types"):
        iterator.make_initializer(Dataset.from_tensors(1.0))
    with pytest.raises(ValueError, match="does not have an initializer"):
        _ = iterator.initializer


def test_string_handles_switch_between_iterators(session: Any) -> None:
    handle = tf.placeholder(tf.string, [])
    element = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    one = Dataset.range(3).make_one_shot_iterator()
    other = Dataset.range(10, 13).make_initializable_iterator()
    names = session.run([one.string_handle(), other.string_handle()])
    session.run(other.initializer)
    found = [session.run(element, {handle: names[i]}) for i in (0, 1, 0, 1, 1)]
    assert found == [0, 10, 1, 11, 12]
    with pytest.raises(tf.errors.NotFoundError):
        session.run(element, {handle: b"none"})


def test_one_shot_refuses_what_it_cannot_copy(session: Any) -> None:
    with pytest.raises(ValueError, match="Cannot capture a placeholder"):
        Dataset.from_tensors(tf.placeholder(tf.int32, [])).make_one_shot_iterator()
    variable = tf.Variable(3.0)
    with pytest.raises(ValueError, match="make_initializable_iterator"):
        Dataset.range(2).map(lambda x: variable).make_one_shot_iterator()


def test_captured_variables(session: Any) -> None:
    """As in TF: a reference variable's value is taken at the start, a resource variable's anew."""
    ref = tf.Variable(3.0)
    resource = tf.get_variable("resource", initializer=2.0, use_resource=True)
    session.run([ref.initializer, resource.initializer])
    data = Dataset.range(4).map(lambda x: (tf.cast(x, tf.float32) * resource, ref))
    iterator = data.make_initializable_iterator()
    element = iterator.get_next()
    session.run(iterator.initializer)
    assert session.run(element) == (0, 3)
    session.run([resource.assign(10.0), ref.assign(7.0)])
    assert session.run(element) == (10, 3)


def test_random_functions_repeat_with_the_seed(session: Any) -> None:
    data = Dataset.range(3).map(lambda x: tf.random_uniform([], seed=5))
    iterator = data.make_initializable_iterator()
    element = iterator.get_next()
    passes = []
    for _ in range(2):
        session.run(iterator.initializer)
        passes.append(drained(session, element))
    assert passes[0] == passes[1]
    assert len(set(passes[0])) == 3


@pytest.mark.parametrize("graph_seed", [None, 0, 3])
@pytest.mark.parametrize("seed", [0, 1, 2**33 + 7])
def test_a_seed_may_be_a_tensor(session: Any, seed: int, graph_seed: int | None) -> None:
    if graph_seed is not None:
        tf.set_random_seed(graph_seed)
    fed = tf.placeholder_with_default(tf.constant(seed, tf.int64), [])
    orders = []
    for given in (seed, tf.constant(seed, tf.int64), fed):
        iterator = Dataset.range(20).shuffle(20, seed=given).make_initializable_iterator()
        element = iterator.get_next()
        session.run(iterator.initializer)
        orders.append([int(session.run(element)) for _ in range(20)])
    assert orders[0] == orders[1] == orders[2] and sorted(orders[0]) == list(range(20))


def test_shuffle_has_each_element_once_and_other_orders(session: Any) -> None:
    data = Dataset.range(50).shuffle(20, seed=1)
    element = data.batch(50).repeat(2).make_one_shot_iterator().get_next()
    first, second = drained(session, element)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first.tolist() != second.tolist()
    # An element comes out no earlier than the buffer allows.
    assert all(value <= place + 20 for place, value in enumerate(first))
    fixed = Dataset.range(50).shuffle(20, seed=1, reshuffle_each_iteration=False)
    again = fixed.batch(50).repeat(2).make_one_shot_iterator().get_next()
    first, second = drained(session, again)
    assert first.tolist() == second.tolist()


def test_many_threads_take_each_element_once(session: Any) -> None:
    data = Dataset.range(2000).map(lambda x: x + 1, num_parallel_calls=4).prefetch(8)
    element = data.make_one_shot_iterator().get_next()
    session.run(element)
    taken: list[int] = [1]

    def work() -> None:
        while True:
            try:
                taken.append(int(session.run(element)))
            except tf.errors.OutOfRangeError:
                return

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(1, 2001))


# ---- waiting -------------------------------------------------------------------------------------


def stuck(event: threading.Event) -> Any:
    def generator() -> Iterator[int]:
        yield 1
        event.wait(PATIENCE)

    return Dataset.from_generator(generator, tf.int32, []).prefetch(1)


def test_a_wait_ends_with_its_deadline_and_its_session() -> None:
    event = threading.Event()
    with tf.Graph().as_default():
        session = tf.Session()
        element = stuck(event).make_one_shot_iterator().get_next()
        assert session.run(element) == 1
        clock = Clock()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(element, options=tf.RunOptions(timeout_in_ms=100))
        timer = threading.Timer(0.1, session.close)
        timer.start()
        with pytest.raises(tf.errors.CancelledError):
            session.run(element)
        assert clock.seconds() < 10
    event.set()


@pytest.mark.long
def test_threads_end_with_the_session() -> None:
    before = set(threading.enumerate())  # a server of another test may have its own

    def begun() -> list[str]:
        gc.collect()
        return [t.name for t in threading.enumerate() if t not in before and "penstock" in t.name]

    with tf.Graph().as_default():
        session = tf.Session()
        data = Dataset.range(10**6).map(lambda x: x + 1, num_parallel_calls=2).prefetch(2)
        element = data.make_one_shot_iterator().get_next()
        assert session.run(element) == 1
        assert begun()
        session.close()
    wait_until(lambda: not begun())


def test_interleaving_in_parallel_reads_all_at_once(session: Any) -> None:
    meeting = threading.Barrier(4, timeout=PATIENCE)

    def meets(number: Any) -> Any:
        def meet(value: int) -> int:
            meeting.wait()  # one after the other nobody would come
            return value

        return Dataset.range(2).map(lambda x: tf.py_func(meet, [x], tf.int64))

    data = Dataset.range(4).interleave(meets, 4, num_parallel_calls=4)
    element = data.make_one_shot_iterator().get_next()
    assert drained(session, element) == [0, 0, 0, 0, 1, 1, 1, 1]


# ---- errors --------------------------------------------------------------------------------------


def test_errors_name_the_function_s_node_and_the_user_s_line(session: Any) -> None:
    data = Dataset.from_tensor_slices([1.0, 0.0]).map(
        lambda x: tf.check_numerics(1.0 / x, "too large", name="looked_at")
    )
    element = data.make_one_shot_iterator().get_next()
    session.run(element)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(element)
    assert "too large" in str(caught.value)
    assert "looked_at" in str(caught.value)
    assert "test_dataset.py" in str(caught.value)


def test_python_errors(session: Any) -> None:
    def fail(value: int) -> int:
        raise [ValueError("odd"), NotImplementedError("no"), KeyError("key")][value]

    data = Dataset.range(3).map(lambda x: tf.py_func(fail, [x], tf.int64))
    element = data.make_one_shot_iterator().get_next()
    for kind, text in (
        (tf.errors.InvalidArgumentError, "odd"),
        (tf.errors.UnimplementedError, "no"),
        (tf.errors.UnknownError, "key"),
    ):
        with pytest.raises(kind, match=text):
            session.run(element)


def test_py_func_checks_what_it_gets(session: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="expects float32"):
        session.run(tf.py_func(lambda x: x, [np.int32(1)], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="expects to see 2"):
        session.run(tf.py_func(lambda x: x, [np.int32(1)], [tf.int32, tf.int32]))
    with pytest.raises(ValueError, match="callable"):
        tf.py_func(3, [], tf.int32)
    both = tf.py_func(lambda x, y: (x + 1, y), [np.int32(1), "s"], [tf.int32, tf.string])
    assert session.run(both) == [2, b"s"]


# ---- graphs --------------------------------------------------------------------------------------


def test_graph_def_keeps_functions() -> None:
    with tf.Graph().as_default() as graph:
        offset = tf.constant(np.int64(100))
        data = Dataset.range(1, 4).flat_map(lambda x: Dataset.range(x).map(lambda y: y + offset))
        data.make_initializable_iterator().get_next("element")
        Dataset.range(3).filter(lambda x: x > 0).make_one_shot_iterator().get_next("one_shot")
        message = graph.as_graph_def()
    assert len(message.library.function) == 4
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(message, name="")
        session.run("MakeIterator")
        assert drained(session, "element:0") == [100, 100, 101, 100, 101, 102]
        assert drained(session, "one_shot:0") == [1, 2]


@pytest.mark.long
def test_tensorflow_runs_our_graph_and_we_run_its(tmp_path: Path) -> None:
    needs(TF115)
    build = (
        "D = tf.data.Dataset\n"
        "with tf.Graph().as_default() as g:\n"
        "    k = tf.constant(3, tf.int64)\n"
        "    d = D.range(1, 5).flat_map(lambda x: D.range(x).map(lambda y: y * k))\n"
        "    d = d.filter(lambda x: x > 0).batch(2)\n"
        "    d.make_initializable_iterator().get_next('element')\n"
        "    D.range(3).map(lambda x: x + 1).make_one_shot_iterator().get_next('one_shot')\n"
        "    open(out, 'wb').write(g.as_graph_def().SerializeToString())\n"
    )
    run = (
        "m = tf.GraphDef(); m.ParseFromString(open(given, 'rb').read())\n"
        "with tf.Graph().as_default(), tf.Session() as s:\n"
        "    tf.import_graph_def(m, name=''); s.run('MakeIterator')\n"
        "    for name, n in (('element:0', 3), ('one_shot:0', 3)):\n"
        "        print([s.run(name).tolist() for _ in range(n)])\n"
    )
    ours, theirs = str(tmp_path / "ours.pb"), str(tmp_path / "theirs.pb")
    exec(build, {"tf": tf, "out": ours})
    code = f"import tensorflow as tf\nout = {theirs!r}\ngiven = {ours!r}\n{build}{run}"
    told = subprocess.run([TF115, "-c", code], capture_output=True, text=True)
    mine = subprocess.run(
        [sys.executable, "-c", f"import penstock as tf\ngiven = {theirs!r}\n{run}"],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    wanted = "[[3, 3], [6, 3], [6, 9]]\n[1, 2, 3]\n"
    assert told.stdout == wanted, told.stderr[-2000:]
    assert mine.stdout == wanted, mine.stderr[-2000:]


def test_options() -> None:
    with tf.Graph().as_default():
        options = tf.data.Options()
        options.experimental_deterministic = False
        data = Dataset.range(3).with_options(options).map(lambda x: x)
        assert data.options().experimental_deterministic is False
        with pytest.raises(AttributeError):
            options.unknown = 1


def test_ranges_of_more_elements_than_an_int64_counts() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        far = Dataset.range(-5, 2**63 - 1)
        pairs = Dataset.range(3).enumerate(-1)
        found = [tf.data.make_one_shot_iterator(data).get_next() for data in (far, pairs)]
        assert session.run(found) == [-5, (-1, 0)]
        assert session.run(tf.data.experimental.cardinality(far)) == 2**63 - 1


def test_padded_shapes_must_be_given() -> None:
    with tf.Graph().as_default():
        rows = np.zeros([3, 2], "f")
        data, pairs = (Dataset.from_tensor_slices(value) for value in (rows, (rows, rows)))
        for source, shapes in ((data, None), (pairs, ([2], None)), (data, tf.TensorShape(None))):
            with pytest.raises(ValueError, match="None values not supported"):
                source.padded_batch(2, shapes)


def test_the_parts_of_a_dataset_of_datasets_are_its_spec() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        data = Dataset.zip((Dataset.range(5).window(2), Dataset.range(3)))
        parts = [getattr(data, f"output_{part}") for part in ("types", "shapes", "classes")]
        assert [type(part[0]).__name__ for part in parts] == ["DatasetSpec"] * 3
        assert [part[1] for part in parts] == [tf.int64, [], tf.Tensor]
        types, shapes, classes = parts
        iterator = tf.data.Iterator.from_structure(types, shapes, output_classes=classes)
        rows, number = iterator.get_next()
        total = tf.data.experimental.get_single_element(rows.batch(3))
        session.run(iterator.make_initializer(data))
        assert [part.tolist() for part in session.run((total, number))] == [[0, 1], 0]


@pytest.mark.parametrize(
    "transformed",
    [
        lambda data, size: data.map(lambda x: x, size),
        lambda data, size: data.interleave(Dataset.from_tensors, size),
        lambda data, size: data.interleave(Dataset.from_tensors, 2, 1, size),
        lambda data, size: data.apply(
            tf.data.experimental.parallel_interleave(Dataset.from_tensors, size)
        ),
    ],
)
def test_sizes_that_are_no_scalars_fail_as_they_run(transformed: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        data = transformed(Dataset.range(3), np.array([2]))
        iterator = tf.data.make_initializable_iterator(data)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar"):
            session.run(iterator.initializer)


def test_iterators_are_kept_in_their_collection() -> None:
    with tf.Graph().as_default() as graph:
        dataset = tf.data.Dataset.range(2)
        once, again = dataset.make_one_shot_iterator(), dataset.make_initializable_iterator()
        handles = [once._iterator_resource, again._iterator_resource]
        assert graph.get_collection("iterators") == handles


def test_a_padded_shape_is_no_nesting_of_shapes() -> None:
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(2)
        with pytest.raises(ValueError, match="must be a 1-D tensor of tf.int64 values"):
            dataset.padded_batch(2, ([], []))
