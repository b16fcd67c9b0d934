"""What other packages take part in: drawings, servers, estimators; batches that stay together."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

import penstock as tf

LAYERS = tf.keras.layers


class _Dot:
    """What ``pydot`` has of a graph, as far as models need it."""

    def __init__(self, **options: Any) -> None:
        self.options, self.nodes, self.edges, self.inside = options, [], [], []

    def create(self) -> None:
        pass

    def set(self, name: str, value: Any) -> None:
        self.options[name] = value

    set_node_defaults = set

    def get_nodes(self) -> list[Any]:
        return self.nodes

    def get_edge(self, first: str, second: str) -> list[Any]:
        return [one for one in self.edges if one == (first, second)]

    def add_node(self, node: Any) -> None:
        self.nodes.append(node)

    def add_edge(self, edge: Any) -> None:
        self.edges.append(edge)

    def add_subgraph(self, graph: Any) -> None:
        self.inside.append(graph)

    def write(self, path: str, format: str) -> None:
        self.written = path, format


class _Defaults(_Dot):
    def set_node_defaults(self, **options: Any) -> None:  # type: ignore[override]
        self.options.update(options)


class _Node:
    def __init__(self, name: str, label: str) -> None:
        self.name, self.label = name, label

    def get_name(self) -> str:
        return self.name


@pytest.fixture
def pydot(monkeypatch: pytest.MonkeyPatch) -> Any:
    package = types.ModuleType("pydot_ng")
    package.__dict__.update(
        Dot=_Defaults, Cluster=_Dot, Node=_Node, Edge=lambda first, second: (first, second)
    )
    monkeypatch.setitem(sys.modules, "pydot_ng", package)
    return package


def _edges(dot: Any) -> list[tuple[str, str]]:
    everywhere = [dot, *dot.inside]
    labels = {node.name: node.label for one in everywhere for node in one.nodes}
    return [(labels[first], labels[second]) for first, second in dot.edges]


@pytest.mark.usefixtures("pydot")
def test_a_model_is_drawn_layer_by_layer() -> None:
    with tf.Graph().as_default():
        given = tf.keras.Input([3], name="a")
        hidden = LAYERS.Dense(4, name="b")(given)
        model = tf.keras.Model(
            given, LAYERS.Add(name="c")([hidden, LAYERS.Dense(4, name="d")(given)])
        )
        dot = tf.keras.utils.model_to_dot(model, show_shapes=True)
        short = tf.keras.utils.model_to_dot(model, show_layer_names=False, rankdir="LR", dpi=60)
    assert [node.label for node in dot.nodes][:2] == [
        "a: InputLayer\n|{input:|output:}|{{(?, 3)}|{(?, 3)}}",
        "b: Dense\n|{input:|output:}|{{(?, 3)}|{(?, 4)}}",
    ]
    assert [node.label for node in short.nodes] == ["InputLayer", "Dense", "Dense", "Add"]
    assert sorted(_edges(short)) == [
        ("Dense", "Add"), ("Dense", "Add"), ("InputLayer", "Dense"), ("InputLayer", "Dense"),
    ]  # fmt: skip
    assert (short.options["rankdir"], short.options["dpi"]) == ("LR", 60)


@pytest.mark.usefixtures("pydot")
def test_models_inside_are_drawn_in_frames() -> None:
    with tf.Graph().as_default():
        inner = tf.keras.Sequential([LAYERS.Dense(2, input_shape=[3], name="in")], name="inner")
        given = tf.keras.Input([5, 3], name="a")
        model = tf.keras.Model(given, LAYERS.TimeDistributed(inner, name="each")(given))
        closed = tf.keras.utils.model_to_dot(model)
        opened = tf.keras.utils.model_to_dot(model, expand_nested=True)
    assert [node.label for node in closed.nodes] == [
        "a: InputLayer", "each(inner): TimeDistributed(Sequential)",
    ]  # fmt: skip
    assert [one.options["label"] for one in opened.inside] == ["inner"]
    assert _edges(opened)[0] == ("a: InputLayer", "each: TimeDistributed")
    assert _edges(opened)[1][0] == "each: TimeDistributed"


def test_a_drawing_is_written(pydot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    monkeypatch.setattr(_Dot, "write", lambda self, path, format: written.append((path, format)))
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with tf.Graph().as_default():
        model = tf.keras.Sequential([LAYERS.Dense(1, input_shape=[2])])
        tf.keras.utils.plot_model(model, "model.svg")
        tf.keras.utils.plot_model(model, "model")
        pydot.Dot.create = staticmethod(lambda _: (_ for _ in ()).throw(OSError("no dot")))
        with pytest.raises(ImportError, match="Failed to import pydot. You must install pydot"):
            tf.keras.utils.plot_model(model)
    assert written == [("model.svg", "svg"), ("model", "png")]


def test_epochs_are_sent_to_a_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[Any] = []

    class Unreachable(Exception):
        pass

    def post(url: str, data: Any = None, json: Any = None, headers: Any = None) -> None:
        if "nowhere" in url:
            raise Unreachable
        sent.append((url, data, json, headers))

    package = types.ModuleType("requests")
    package.__dict__.update(
        post=post, exceptions=types.SimpleNamespace(RequestException=Unreachable)
    )
    monkeypatch.setitem(sys.modules, "requests", package)
    monitor = tf.keras.callbacks.RemoteMonitor
    monitor("http://here").on_epoch_end(1, {"loss": 2.0})
    monitor("http://here", "/p", headers={"a": "b"}, send_as_json=True).on_epoch_end(2)
    monitor("http://nowhere").on_epoch_end(0)
    assert sent == [
        ("http://here/publish/epoch/end/", {"data": '{"epoch": 1, "loss": 2.0}'}, None, None),
        ("http://here/p", None, {"epoch": 2}, {"a": "b"}),
    ]
    assert "could not reach RemoteMonitor root server at http://nowhere" in caplog.text
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(ImportError, match="RemoteMonitor requires the `requests` library"):
        monitor().on_epoch_end(0)


def _told(rate: float = 0.1) -> Any:
    dense = LAYERS.Dense(2, "softmax", kernel_initializer="zeros", input_shape=[1])
    model = tf.keras.Sequential([dense])
    model.compile(tf.keras.optimizers.SGD(rate), "categorical_crossentropy", ["accuracy"])
    return model


def test_scikit_learn_takes_models_as_estimators() -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    x = np.array([[-1.0], [-2.0], [1.0], [2.0]] * 3)
    y = np.array(["low", "low", "high", "high"] * 3)
    with tf.Graph().as_default():
        made = tf.keras.wrappers.scikit_learn.KerasClassifier(_told, epochs=3, verbose=0)
        assert selection.cross_val_score(made, x, y, cv=3).tolist() == [1.0, 1.0, 1.0]
        found = selection.GridSearchCV(made, {"rate": [0.0, 0.5]}, cv=2).fit(x, y)
        assert found.best_params_ == {"rate": 0.5}
        assert found.predict(x[:3]).tolist() == ["low", "low", "high"]


def test_batches_stay_together_in_another_order() -> None:
    seen: list[list[float]] = []

    class Notes(tf.keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            seen.append([])

    with tf.Graph().as_default():
        given = tf.keras.Input([1])
        model = tf.keras.Model(given, LAYERS.Dense(1)(given))
        model.compile("sgd", "mse")
        run = model.run_batch

        def noted(training: bool, inputs: Any, *rest: Any) -> Any:
            seen[-1] += inputs[0].ravel().tolist()
            return run(training, inputs, *rest)

        model.__dict__["run_batch"] = noted
        x = np.arange(11.0)
        model.fit(x, x, batch_size=3, shuffle="batch", epochs=4, verbose=0, callbacks=[Notes()])
    for epoch in range(4):
        batches = seen[4 * epoch : 4 * epoch + 4]
        assert sorted(batches[:3]) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
        assert batches[3] == [9, 10]
