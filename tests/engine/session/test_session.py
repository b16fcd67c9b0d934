"""Sessions: fetches, feeds, partial runs, failures, threads."""

from __future__ import annotations

import collections
import threading

import numpy as np
import pytest
import torch

import penstock as tf
from tests.suite.clock import PATIENCE_MS

Pair = collections.namedtuple("Pair", "first second")


def test_any_nesting_comes_back_in_its_form() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b = tf.constant(1.0), tf.constant([2, 3])
        result = sess.run(
            {"p": Pair(a, [b, (a, a.op)]), "name": "Const:0", "od": collections.OrderedDict(z=b)}
        )
    assert isinstance(result["p"], Pair)
    assert result["p"].first == np.float32(1.0)
    assert isinstance(result["p"].second[1], tuple) and result["p"].second[1][1] is None
    assert result["name"] == np.float32(1.0)
    assert list(result["od"]) == ["z"] and result["od"]["z"].tolist() == [2, 3]


def test_scalars_are_numpy_scalars_of_the_right_type() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        for dtype in (tf.float32, tf.int64, tf.bool, tf.float16, tf.complex64, tf.uint8):
            value = sess.run(tf.cast(tf.placeholder_with_default(1, []), dtype))
            assert type(value) is dtype.as_numpy_dtype


def test_sparse_and_slices_are_fetched_and_fed() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        sparse = tf.SparseTensor([[0, 1]], [5.0], [2, 2])
        value = sess.run(sparse)
        assert value.dense_shape.tolist() == [2, 2]
        fed = sess.run(sparse, {sparse: tf.SparseTensorValue([[1, 1]], [7.0], [2, 2])})
        assert fed.indices.tolist() == [[1, 1]] and fed.values.tolist() == [7.0]
        rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]))
        assert sess.run(rows).indices.tolist() == [3]


def test_feeds_from_python_numpy_and_torch() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2])
        y = x * 2.0
        for value in ([[1, 2]], np.array([[1, 2]], np.float64), torch.tensor([[1.0, 2.0]])):
            assert sess.run(y, {x: value}).tolist() == [[2.0, 4.0]]
        strided = np.arange(8, dtype=np.float32).reshape(2, 4)[::-1, ::2]
        np.testing.assert_array_equal(sess.run(y, {x: strided}), strided * 2)
        assert sess.run(y, {"Placeholder:0": [[1, 1]]}).tolist() == [[2.0, 2.0]]


def test_any_tensor_may_be_fed() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a = tf.placeholder(tf.float32)
        b = a + 1.0
        assert sess.run(b * 2.0, {b: 10.0}) == 20.0


def test_fetched_arrays_never_change_and_feeds_stay_untouched() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([1.0, 2.0])
        x = tf.placeholder(tf.float32, [2])
        add = tf.assign_add(v, x)
        sess.run(tf.global_variables_initializer())
        before = sess.run(v)
        fed = np.ones(2, np.float32)
        passed = sess.run(tf.identity(x), {x: fed})
        sess.run(add, {x: fed})
        fed[0] = 100.0
        assert before.tolist() == [1.0, 2.0]
        assert passed.tolist() == [1.0, 1.0]
        constant = tf.constant([1.0, 2.0])
        sess.run(constant)[0] = 9.0
        assert sess.run(constant).tolist() == [1.0, 2.0]


def test_only_what_is_needed_runs() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32)
        _ = x + 1.0
        assert sess.run(tf.constant(2.0) + 1.0) == 3.0


def test_a_missing_feed_names_the_placeholder_and_the_users_line() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, name="images")
        y = x + 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="images") as info:
            sess.run(y)
        assert "test_session.py" in str(info.value) and 'name="images"' in str(info.value)
        assert sess.run(y, {x: 1.0}) == 2.0


@pytest.mark.parametrize(
    ("fetch", "error"),
    [(None, TypeError), (3.5, TypeError), ("absent:0", ValueError), ("a:b:c", ValueError)],
)
def test_bad_fetches(fetch: object, error: type[Exception]) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.no_op()
        with pytest.raises(error):
            sess.run(fetch)


def test_bad_feeds() -> None:
    with tf.Graph().as_default() as g, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = x * 1.0
        with pytest.raises(ValueError, match=r"\(3,\).*x:0"):
            sess.run(y, {x: [1, 2, 3]})
        with pytest.raises(ValueError, match="x:0"):
            sess.run(y, {x: ["a", "b"]})
        with pytest.raises(TypeError, match="The value of a feed cannot be a tf.Tensor object"):
            sess.run(y, {x: tf.constant([1.0, 2.0])})
        with pytest.raises(TypeError, match="feed_dict"):
            sess.run(y, {3: 1.0})
        g.prevent_feeding(y)
        with pytest.raises(ValueError, match="may not be fed"):
            sess.run(y, {y: [1.0, 2.0]})
        integers = tf.placeholder(tf.int32, [])
        with pytest.raises(TypeError, match="int32"):
            sess.run(integers * 1, {integers: 2**40})
        assert sess.run(y, {x: [1, 2]}).tolist() == [1.0, 2.0]


def test_other_graphs_tensors_are_refused() -> None:
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.no_op()
        with pytest.raises(ValueError, match="graph"):
            sess.run(foreign)


def test_uninitialized_variables_say_what_to_run() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        for v in (tf.Variable(1.0, name="w"), tf.Variable(1.0, name="r", use_resource=True)):
            with pytest.raises(tf.errors.FailedPreconditionError, match=v.op.name):
                sess.run(v + 1.0)
            sess.run(v.initializer)
            assert sess.run(v + 1.0) == 2.0


def test_a_failing_kernel_names_node_operands_and_line() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a = tf.placeholder(tf.float32, name="a")
        b = tf.placeholder(tf.float32, name="b")
        c = tf.matmul(a, b, name="product")
        with pytest.raises(tf.errors.InvalidArgumentError, match="product") as info:
            sess.run(c, {a: np.ones((2, 3)), b: np.ones((4, 5))})
        text = str(info.value)
        assert "float32[2, 3]" in text and "float32[4, 5]" in text and "test_session.py" in text
        assert info.value.op is c.op and info.value.error_code == 3
        assert sess.run(c, {a: np.ones((2, 3)), b: np.ones((3, 1))}).tolist() == [[3.0], [3.0]]


def test_many_shapes_share_a_general_program() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_sum(x * x)
        for n in range(1, 12):
            assert sess.run(y, {x: np.ones(n)}) == n
        assert len(sess._programs) <= 5


@pytest.mark.long
def test_sums_of_thousands_of_terms_compile() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2])
        w = tf.Variable([1.0, 2.0])
        total = tf.add_n([x * w + float(i) for i in range(3000)])
        (grad,) = tf.gradients(total, w)
        sess.run(w.initializer)
        values = sess.run([total, grad], {x: [1.0, 1.0]})
    base = 3000 * 2999 / 2
    assert values[0].tolist() == [base + 3000, base + 6000]
    assert values[1].tolist() == [3000.0, 3000.0]


def test_closed_sessions_do_not_run() -> None:
    with tf.Graph().as_default():
        sess = tf.Session()
        c = tf.constant(1.0)
        sess.run(c)
        sess.close()
        with pytest.raises(RuntimeError, match="closed"):
            sess.run(c)


def test_default_sessions_and_eval() -> None:
    with tf.Graph().as_default():
        c = tf.constant(3.0)
        with pytest.raises(ValueError, match="session"):
            c.eval()
        with tf.Session():
            assert c.eval() == 3.0
            assert tf.get_default_session() is not None
        interactive = tf.InteractiveSession()
        assert c.eval() == 3.0
        interactive.close()
        assert tf.get_default_session() is None


def test_sessions_have_state_of_their_own() -> None:
    with tf.Graph().as_default():
        v = tf.Variable(0.0)
        add = tf.assign_add(v, 1.0)
        one, two = tf.Session(), tf.Session()
        for sess in (one, two):
            sess.run(v.initializer)
        one.run(add)
        assert one.run(v) == 1.0 and two.run(v) == 0.0


def test_make_callable() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        f = sess.make_callable([a - b, a], [b, a])
        assert f(1.0, 5.0) == [4.0, 5.0]
        with pytest.raises(TypeError, match="2"):
            f(1.0)


def test_partial_runs_compute_each_node_once() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a = tf.placeholder(tf.float32, [], name="a")
        b = tf.placeholder(tf.float32, [], name="b")
        count = tf.Variable(0.0)
        sess.run(count.initializer)
        bumped = tf.assign_add(count, 1.0)
        first = a + bumped
        second = first * b
        handle = sess.partial_run_setup([first, second], [a, b])
        assert sess.partial_run(handle, first, {a: 10.0}) == 11.0
        assert sess.partial_run(handle, second, {b: 3.0}) == 33.0
        assert sess.run(count) == 1.0


def test_partial_runs_need_their_feeds() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a = tf.placeholder(tf.float32, [], name="a")
        b = a + 1.0
        handle = sess.partial_run_setup([b], [a])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Fetch a:0 can't be computed"):
            sess.partial_run(handle, b)


def test_a_failing_part_names_its_node_and_ends_the_run() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a = tf.placeholder(tf.float32, [2, 3], name="a")
        b = tf.placeholder(tf.float32, name="b")
        v = tf.Variable([1.0], name="v")
        product = tf.matmul(a, b, name="product")
        handle = sess.partial_run_setup([product, v + 1.0], [a, b])
        with pytest.raises(tf.errors.InvalidArgumentError, match="product"):
            sess.partial_run(handle, product, {a: np.ones((2, 3)), b: np.ones((4, 5))})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
            sess.partial_run(handle, v + 1.0)
        reading = v * 2.0
        handle = sess.partial_run_setup([reading], [])
        with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
            sess.partial_run(handle, reading)
        sess.run(v.initializer)
        handle = sess.partial_run_setup([reading], [])
        assert sess.partial_run(handle, reading).tolist() == [2.0]


def test_timeouts_end_a_step() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        fed = x = tf.placeholder(tf.float32, [400, 400])
        for _ in range(300):
            x = tf.matmul(x, x) * 1e-3
        total = tf.reduce_sum(x)
        feed = {fed: np.random.rand(400, 400)}
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(total, feed, options=tf.RunOptions(timeout_in_ms=5))
        sess.run(total, feed, options=tf.RunOptions(timeout_in_ms=PATIENCE_MS))


def test_devices_that_do_not_exist_are_refused_unless_soft() -> None:
    with tf.Graph().as_default():
        with tf.device("/gpu:7"):
            c = tf.placeholder_with_default(1.0, [], name="there") + 1.0
        with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="GPU:7"):
            sess.run(c)
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
            assert sess.run(c) == 2.0


def test_explain_shows_each_node_once_on_its_line() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2, 2], name="x")
        y = tf.matmul(x, x, name="square")
        text = sess.explain(y, [x])
    assert "def step(f0):" in text
    assert sum("# square" in line for line in text.splitlines()) == 1


def _hammer(steps: int, threads: int = 8) -> tuple[float, list[BaseException]]:
    with tf.Graph().as_default():
        total = tf.Variable(0.0, name="total")
        x = tf.placeholder(tf.float32, [])
        add = tf.assign_add(total, x, use_locking=True)
        read = total * 2.0
        sess = tf.Session()
        sess.run(total.initializer)
        errors: list[BaseException] = []

        def work() -> None:
            try:
                for _ in range(steps):
                    sess.run(add, {x: 1.0})
                    sess.run(read)
            except BaseException as error:
                errors.append(error)

        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return float(sess.run(total)), errors


def test_threads_share_a_session_and_lose_no_locked_update() -> None:
    total, errors = _hammer(1000)
    assert not errors
    assert total == 8000.0


@pytest.mark.long
def test_eight_threads_of_ten_thousand_steps() -> None:
    total, errors = _hammer(10_000)
    assert not errors
    assert total == 80_000.0


@pytest.mark.parametrize(
    ("given", "wanted"),
    [({"options": 5}, "RunOptions"), ({"run_metadata": 5}, "RunMetadata"),
     ({"options": tf.RunOptions(), "run_metadata": {}}, "RunMetadata")],
)  # fmt: skip
def test_run_refuses_what_is_no_option(given: dict, wanted: str) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        z = tf.constant(1)
        for _ in range(2):  # new and cached
            with pytest.raises(TypeError, match=f"must be a {wanted}"):
                sess.run(z, **given)
            sess.run(z)
        sess.run(z, run_metadata=tf.RunMetadata())


def test_an_element_of_another_graph_is_told_with_both_graphs() -> None:
    with tf.Graph().as_default() as theirs:
        other = tf.constant(1.0, name="other")
    with tf.Graph().as_default() as ours, tf.Session() as sess:
        mine = tf.constant(2.0, name="mine")
        both = f"(?s){id(ours):#x} of 1 nodes.*'mine'.*{id(theirs):#x} of 1 nodes.*'other'"
        with pytest.raises(ValueError, match=both):
            sess.run(other)
        with pytest.raises(TypeError, match=both):
            sess.run(mine, {other: 1.0})
        # As in TF, feeds are looked at first.
        with pytest.raises(TypeError, match=both):
            sess.run(other, {other: 1.0})


def test_the_graph_of_a_session_has_shapes_if_asked_for() -> None:
    config = tf.ConfigProto()
    config.graph_options.infer_shapes = True
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [None, 2], name="a")
        (node,) = tf.Session(config=config).graph_def.node
        assert [d.size for d in node.attr["_output_shapes"].list.shape[0].dim] == [-1, 2]
        for other in (tf.Session().graph_def, graph.as_graph_def()):
            assert "_output_shapes" not in other.node[0].attr
