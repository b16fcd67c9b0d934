"""The table of paths: every row leads somewhere, and what is absent says so."""

from __future__ import annotations

import sys
import types

import pytest

import penstock as tf
from penstock.python import paths, tree

# Libraries that rows speak of and that are not here yet.
TO_COME = ("tf.keras", "tf.layers", "tf.estimator", "tf.feature_column")


@pytest.mark.parametrize("path", sorted(paths.PATHS))
def test_every_row_leads_somewhere(path: str) -> None:
    found = tree.module(path)
    for each in tree.row(path).namespaces:
        if not each.startswith(TO_COME):
            tree.namespace(each)
    for name in tree.row(path).names:
        assert getattr(found, name) is not None
        assert name in dir(found)


def test_what_stands_beneath_is_named_by_a_row() -> None:
    named = {old for path in paths.PATHS for old in tree.row(path).names.values()}
    assert {name for name in tree.BENEATH if name not in named} == set()


def test_no_row_names_what_is_public_anyway() -> None:
    """A name without ``=`` that the row's namespaces have needs no second place."""
    for path in paths.PATHS:
        row = tree.row(path)
        places = [tree.namespace(n) for n in row.namespaces if not n.startswith(TO_COME)]
        for new, old in row.names.items():
            if new == old and old in tree.BENEATH:
                assert not any(hasattr(place, new) for place in places), (path, new)


def test_a_namespace_that_is_not_here_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(paths.PATHS, "python.ops.nowhere", "tf.no_such_library")
    tree.row.cache_clear()
    with pytest.raises(AttributeError, match="no attribute 'x'; Penstock has no tf.no_such_lib"):
        tree.find("python.ops.nowhere", "x")
    tree.row.cache_clear()


def test_small_functions_beneath() -> None:
    from penstock.python.framework import tensor_shape
    from penstock.python.lib.io import file_io
    from penstock.python.util import tf_decorator, tf_inspect

    assert tensor_shape.scalar() == tf.TensorShape([])
    assert file_io.FileIO is tf.gfile.GFile and file_io.file_exists is tf.gfile.Exists
    assert tf_inspect.getargspec(lambda a, b=1: a).defaults == (1,)
    wrapped = tf_decorator.make_decorator(len, lambda *args: 3)
    assert tf_decorator.unwrap(wrapped)[1] is len


def test_whole_files(tmp_path: object) -> None:
    from penstock.python.lib.io import file_io

    path = f"{tmp_path}/a"
    file_io.write_string_to_file(path, "caf\u00e9")
    assert file_io.read_file_to_string(path) == "caf\u00e9"
    assert file_io.read_file_to_string(path, binary_mode=True) == b"caf\xc3\xa9"


def test_deprecations_are_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.python.util import deprecation
    from penstock.tools.platform import tf_logging

    said: list[str] = []
    monkeypatch.setattr(tf_logging, "warning", said.append)
    decorate = deprecation.deprecated("2019-10-01", "Use new.")
    old = decorate(lambda x: x + 1)
    assert [old(1), old(2)] == [2, 3] and len(said) == 1
    assert said[0].endswith("is deprecated and will be removed after 2019-10-01. Use new.")
    args = deprecation.deprecated_args(None, "Leave it out.", "dim")(lambda x, dim=None: x)
    assert args(1) == 1 and len(said) == 1
    assert args(1, dim=2) == 1 and "with dim is deprecated" in said[1]
    values = deprecation.deprecated_arg_values(None, "Say True.", b=False)(lambda b: b)
    assert values(True) and len(said) == 2
    assert not values(False) and len(said) == 3


# ---- what packages build on ----------------------------------------------------------------------


def test_counts_at_thresholds() -> None:
    from penstock.python.ops import metrics_impl

    with tf.Graph().as_default(), tf.Session() as session:
        labels, scores = tf.constant([1, 0, 1]), tf.constant([0.1, 0.2, 0.8])
        counts = metrics_impl._confusion_matrix_at_thresholds
        values, updates = counts(labels, scores, [0.5, 0.0])
        assert list(values) == ["tp", "fn", "tn", "fp"]
        only, _ = counts(labels, scores, [0.5], includes=("tn",))
        assert list(only) == ["tn"]
        session.run(tf.local_variables_initializer())
        session.run(updates)
        found = {kind: value.tolist() for kind, value in session.run(values).items()}
        assert found == {"tp": [1, 2], "fn": [1, 0], "tn": [1, 0], "fp": [0, 1]}
        with pytest.raises(ValueError, match="Invalid key: x"):
            counts(labels, scores, [0.5], includes=("x",))


def test_parts_of_metrics() -> None:
    from penstock.python.ops import metrics_impl

    with tf.Graph().as_default():
        made = metrics_impl.metric_variable([2], tf.float32, name="m")
        assert made in tf.local_variables() and not tf.trainable_variables()
        total = metrics_impl._aggregate_variable(made, ["mine"])
        assert tf.get_collection("mine") == [total]
        ratio = metrics_impl._safe_scalar_div(tf.constant(1.0), tf.constant(0.0), "q")
        classes = metrics_impl._streaming_sparse_average_precision_at_top_k(
            tf.constant([[1]], tf.int64), tf.constant([[0, 1]], tf.int64)
        )
        shaped, _, weights = metrics_impl._remove_squeezable_dimensions(
            tf.zeros([2, 1]), tf.zeros([2]), tf.zeros([2, 1])
        )
        assert shaped.shape == weights.shape == [2]
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            assert session.run(ratio) == 0.0
            assert session.run(classes[1]) == 0.5


def test_modules_that_packages_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.python import tf2
    from penstock.python.framework import ops
    from penstock.python.ops import array_ops, control_flow_util, gradients_impl, variable_scope
    from penstock.python.util import all_util, deprecation

    assert not tf2.enabled()
    lookup = deprecation.deprecated_argument_lookup
    assert lookup("a", None, "b", 2) == 2 and lookup("a", 1, "b", None) == 1
    with pytest.raises(ValueError, match="Cannot specify both 'b' and 'a'"):
        lookup("a", 1, "b", 2)
    module = types.ModuleType("presented", "Names.\n\n@@kept\n@@also\n")
    vars(module).update(kept=1, also=2, other=3, allowed=4)
    monkeypatch.setitem(sys.modules, "presented", module)
    assert all_util.make_all("presented") == ["also", "kept"]
    all_util.remove_undocumented("presented", ["allowed"])
    assert {n for n in vars(module) if n[0] != "_"} == {"kept", "also", "allowed"}
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2])
        assert array_ops.shape_internal(x, None, False).op.type == "Shape"
        assert not control_flow_util.GraphOrParentsInXlaContext(graph)
        assert gradients_impl.gradients_v2(x * 3.0, x)[0].shape == [2]
        assert variable_scope.variable(1.0, name="v").op.name == "v"
        assert ops._get_graph_from_inputs([x], graph) is graph
        with pytest.raises(ValueError, match="is not from the passed-in graph"):
            ops._get_graph_from_inputs([x], tf.Graph())
        x.aliases = ["mine"]  # tensors take what packages hang on them
        assert x.aliases == ["mine"]


def test_functions_of_layers_are_written_and_read() -> None:
    from penstock.python.keras.utils import generic_utils

    def adds(z: int):
        return lambda x, y=2: x + y + z

    code, defaults, closure = generic_utils.func_dump(adds(5))
    assert isinstance(code, str) and (defaults, closure) == ((2,), (5,))
    assert generic_utils.func_load((code, list(defaults), closure))(3) == 10


def test_modules_that_are_imported_at_their_first_use() -> None:
    from penstock.python.util import lazy_loader

    names: dict[str, object] = {}
    loader = names["c"] = lazy_loader.LazyLoader("c", names, "colorsys")
    assert loader.rgb_to_hsv(1.0, 1.0, 1.0) == (0.0, 0.0, 1.0)
    assert names["c"].__name__ == "colorsys" and names["c"] is not loader


def test_constants_by_the_functions_of_the_c_library() -> None:
    from penstock.python import pywrap_tensorflow

    with tf.Graph().as_default() as graph:
        known, fed = tf.constant(3) > 2, tf.placeholder(tf.bool)
        evaluate = pywrap_tensorflow.TF_TryEvaluateConstant_wrapper
        assert evaluate(graph._c_graph, known._as_tf_output()) == True  # noqa: E712
        assert evaluate(fed.graph._c_graph, fed._as_tf_output()) is None


def test_what_extends_tensorflows_conversion_says_why_it_is_not_there() -> None:
    from penstock.python.autograph.pyct import parser, transformer

    class Own(transformer.Base):
        pass

    with pytest.raises(NotImplementedError, match="Own extends TensorFlow's own conversion"):
        Own(None)
    with pytest.raises(AttributeError, match="parse_entity.: what it has extends"):
        parser.parse_entity


def test_other_names_beneath() -> None:
    import collections

    from penstock.python.framework import common_shapes
    from penstock.python.ops import array_ops, control_flow_ops, random_ops
    from penstock.python.util import nest

    point = collections.namedtuple("point", "x y")
    assert nest._is_namedtuple(point(1, 2)) and not nest._is_namedtuple((1,))
    assert nest._is_namedtuple(point(1, 2), True)
    assert common_shapes.broadcast_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])) == [2, 3]
    with tf.Graph().as_default(), tf.Session() as session:
        refused = array_ops.prevent_gradient(tf.constant(1.0), "not this")
        with pytest.raises(LookupError, match="not this"):
            tf.gradients(refused, refused.op.inputs[0])
        drawn = random_ops.parameterized_truncated_normal(
            [2, 5000], [0.0, 10.0], 1.0, [-1.0, 9.0], [3.0, 10.0], seed=1
        )
        chosen = control_flow_ops._case_helper(
            tf.cond, [(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)],
            lambda: 3, False, "chosen",
        )  # fmt: skip
        drawn, chosen = session.run([drawn, chosen])
    assert chosen == 2 and -1 <= drawn[0].min() < -0.99 and 9 <= drawn[1].min()
    assert 2 < drawn[0].max() <= 3 and 9.99 < drawn[1].max() <= 10


def test_attributes_that_a_module_leaves_out() -> None:
    class Part(tf.Module):
        _TF_MODULE_IGNORED_PROPERTIES = tf.Module._TF_MODULE_IGNORED_PROPERTIES.union(["_kept"])

        def __init__(self) -> None:
            super().__init__()
            self._kept, self.seen = tf.Variable(1.0, name="kept"), tf.Variable(2.0, name="seen")
            self.apart = self._no_dependency({"a": 1})

    with tf.Graph().as_default():
        part = Part()
        assert [v.name for v in part.variables] == ["seen:0"] and part.apart == {"a": 1}


def test_operators_of_tensors_are_a_set_that_libraries_change() -> None:
    assert type(tf.Tensor.OVERLOADABLE_OPERATORS) is set


def test_what_stands_for_a_tensor_is_like_one() -> None:
    like = tf.python.framework.ops._TensorLike
    with tf.Graph().as_default():
        dense = tf.constant([1.0])
        sparse = tf.SparseTensor([[0]], dense, [1])
        variable = tf.Variable([1.0])
    assert isinstance(dense, like)
    assert isinstance(sparse, like)
    assert not isinstance(variable, like)
    assert issubclass(tf.IndexedSlices, like)


def test_a_class_is_registered_as_dense_tensors() -> None:
    from penstock.python.framework import ops

    class Named:
        name = property(lambda self: "a")

    class Dense(Named):
        dtype = property(lambda self: tf.float32)

    assert not ops.is_dense_tensor_like(Dense())
    with pytest.raises(TypeError, match="Type Named does not define a `dtype` property"):
        ops.register_dense_tensor_like_type(Named)
    ops.register_dense_tensor_like_type(Dense)
    assert ops.is_dense_tensor_like(Dense()) and not ops.is_dense_tensor_like(Named())
    assert ops.uid() + 1 == ops.uid()


def test_what_a_session_fetches_and_runs() -> None:
    from penstock.python.client.session import _FetchHandler
    from penstock.python.training.monitored_session import _HookedSession

    with tf.Graph().as_default() as graph:
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        run = tf.no_op("run")
        handler = _FetchHandler(graph, [a, {"x": b, "y": [run, a]}, "b"], {})
        assert handler.fetches() == [a, b]
        assert handler.targets() == [run, b.op]
        assert _FetchHandler(graph, [a, b], {a: 3.0}).fetches() == [b]
        with tf.Session() as sess:
            hooked = _HookedSession(sess, [tf.train.SessionRunHook()])
            assert hooked.run(a + b) == 3.0
