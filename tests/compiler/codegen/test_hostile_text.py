"""A foreign graph is data: it is refused, or is the program of the same graph with plain names.

Each case puts one piece of hostile text into a message, most often wherever a name stands, and
makes the same graph with a plain name besides.  Either the graph is refused by a clear error, or
its programs consist of the same statements, names and calls; what the text asks for never runs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.graph_pb2 import GraphDef

import penstock as tf
from penstock.cluster.distributed import tensor_codec
from penstock.cluster.distributed.client_sessions import ClientSessions
from penstock.cluster.distributed.services import MasterService, messages
from penstock.compiler.partition import wire
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.session.options import Options
from penstock.engine.session.task_parts import program_of_step
from penstock.foundation.formats.schema import SavedModel
from tests.compiler.codegen.hostile_text import (
    PAYLOADS,
    Watched,
    changed,
    renamed,
    strings,
    watched,
)
from tests.compiler.partition.cluster import Cluster
from tests.compiler.partition.programs import PROGRAMS
from tests.suite.daily import long_but

# What a clear refusal is.
# Payloads that are part of a valid name.
_VALID = {"1", "\\"}
REFUSALS = (ValueError, tf.errors.OpError)


def _build() -> None:
    """A graph with a string of every sort: devices, containers, functions, shared names, frames."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.device("/device:CPU:0"), tf.container("box"), tf.name_scope("layer"):
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        r = tf.get_variable("r", initializer=[1.0, 2.0], use_resource=True)
        y = tf.nn.relu(tf.matmul(x, w) + r, name="y")
    queue = tf.FIFOQueue(9, [tf.float32], [[2]], shared_name="the_queue", name="queue")
    with tf.control_dependencies([queue.enqueue([y[0]])]):
        z = tf.identity(queue.dequeue(), name="z")
    words = tf.strings.join([tf.constant("it's"), tf.as_string(z)], separator="'\"", name="words")
    with tf.control_dependencies([w.assign_add([[1.0, 1.0], [1.0, 1.0]])]):
        branch = tf.cond(z[0] > 0.0, lambda: z + 1.0, lambda: z - 1.0, name="branch")
    loop = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [0, branch], name="loop"
    )
    mapped = tf.data.Dataset.range(3).map(lambda v: (v + 1, tf.as_string(v)))
    count, text = mapped.make_one_shot_iterator().get_next(name="next")
    tf.group(
        tf.identity(loop[1], name="out"), tf.identity(words), tf.identity(count),
        tf.identity(text), tf.random.uniform([2], seed=1), name="all",
    )  # fmt: skip
    tf.global_variables_initializer()


@pytest.fixture(scope="module")
def message() -> Any:
    with tf.Graph().as_default() as graph:
        _build()
        return graph.as_graph_def()


def _import_and_run(definition: Any) -> None:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        _run(graph)


def _run(graph: Any) -> None:
    ops = graph.get_operations()
    feeds = {op.outputs[0]: np.ones((1, 2), np.float32) for op in ops if op.type == "Placeholder"}
    ends = [op for op in ops if op.type == "NoOp"]
    with tf.Session(graph=graph) as session:
        for each in reversed(ends):
            session.run(each, feeds)
        out = [op.outputs[0] for op in ops if op.type in ("Relu", "Exit", "StringJoin", "AsString")]
        session.run(out, feeds)


def _outcome(use: Callable[[Any], None], message: Any) -> tuple[Watched, Exception | None]:
    with watched() as found:
        try:
            use(message)
        except REFUSALS as error:
            return found, error
    return found, None


def _check(use: Callable[[Any], None], message: Any, seed: int) -> bool:
    """Holds a case; whether the hostile graph was taken."""
    hostile, plain, what = changed(message, seed)
    found, error = _outcome(use, hostile)
    assert not found.canary, f"{what}: the text ran"
    for text in found.texts:
        assert text.isascii(), what
    if error is not None:
        return False
    usual, refused = _outcome(use, plain)
    if refused is None:
        assert found.parts() == usual.parts(), what
    return True


def test_the_graph_runs_and_has_strings_of_every_sort(message: Any) -> None:
    found, error = _outcome(_import_and_run, message)
    assert error is None and len(found.texts) > 3
    text = str(message)
    for word in ("the_queue", "box", "device:CPU:0", "frame_name", "function {", "loc:@", "\\'"):
        assert word in text, word


@pytest.mark.parametrize("start", long_but([0], range(0, 240, 30)))
def test_an_imported_graph_stays_data(message: Any, start: int) -> None:
    taken = [_check(_import_and_run, message, seed) for seed in range(start, start + 30)]
    assert any(taken) and not all(taken)


@pytest.mark.parametrize("start", long_but([1000], range(1000, 1060, 30)))
def test_a_saved_model_stays_data(start: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        saved = _saved_model(Path(folder))
        taken = [_check(_load_and_run(folder), saved, seed) for seed in range(start, start + 30)]
    assert any(taken) and not all(taken)


def _saved_model(folder: Path) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        _build()
        session.run(tf.global_variables_initializer())
        graph = session.graph
        tf.saved_model.simple_save(
            session, str(folder / "model"), {"x": graph.get_tensor_by_name("x:0")},
            {"y": graph.get_tensor_by_name("layer/y:0")},
        )  # fmt: skip
    found = SavedModel()
    found.ParseFromString((folder / "model" / "saved_model.pb").read_bytes())
    return found


def _load_and_run(folder: str) -> Callable[[Any], None]:
    def use(saved: Any) -> None:
        path = Path(folder) / "model" / "saved_model.pb"
        path.write_bytes(saved.SerializeToString())
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            tags = saved.meta_graphs[0].meta_info_def.tags
            meta = tf.saved_model.load(session, list(tags), str(path.parent))
            for signature in meta.signature_def.values():
                feeds = {
                    each.name: np.ones((1, 2), np.float32) for each in signature.inputs.values()
                }
                session.run([each.name for each in signature.outputs.values()], feeds)
            session.run("next:1")

    return use


@pytest.fixture(scope="module")
def on_a_server() -> Iterator[Callable[[Any], None]]:
    """Runs a GraphDef as a client's, by the calls that come to a server."""
    server = tf.train.Server.create_local_server()
    service = MasterService(ClientSessions(server._master, 1 << 28))

    def use(definition: Any) -> None:
        tf.Session.reset(server.target)
        request = messages.CreateSessionRequest(
            graph=definition.SerializeToString(), config=ConfigProto().SerializeToString()
        )
        made = service.create_session(request, _NeverCancelled()).session
        try:
            _run_on(service, made, definition)
        finally:
            service.close_session(messages.CloseSessionRequest(session=made), None)

    yield use
    server.stop()


def _run_on(service: Any, session: str, definition: Any) -> None:
    feeds = [f"{node.name}:0" for node in definition.node if node.op == "Placeholder"]
    value = tensor_codec.encode(torch.ones(1, 2))
    outputs = [f"{n.name}:0" for n in definition.node if n.op in ("Relu", "Exit", "AsString")]
    ends = [node.name for node in definition.node if node.op == "NoOp"]
    for targets, fetches in ([ends[-1:], []], [ends[:1], outputs]):
        prepared = service.prepare_step(
            messages.PrepareStepRequest(
                session=session, feeds=feeds, fetches=fetches, targets=targets
            ), _NeverCancelled(),
        )  # fmt: skip
        values = [value] * len(feeds)
        request = messages.RunStepRequest(session=session, step=prepared.step, values=values)
        service.run_step(request, _NeverCancelled())


class _NeverCancelled:
    def on_cancel(self, act: Callable[[], None]) -> None:
        """Nobody withdraws the call."""


@pytest.mark.parametrize("start", long_but([2000], range(2000, 2060, 30)))
def test_a_client_s_graph_stays_data_on_a_server(
    message: Any, on_a_server: Callable[[Any], None], start: int
) -> None:
    assert _outcome(on_a_server, message)[1] is None
    taken = [_check(on_a_server, message, seed) for seed in range(start, start + 30)]
    assert any(taken) and not all(taken)


@pytest.fixture(scope="module")
def parts() -> list[Any]:
    """Parts of steps as messages, as a master registers them with a worker."""
    found = []
    for name in ("functions_and_datasets", "conditionals", "queues"):
        with tf.Graph().as_default():
            for fetches, feed in PROGRAMS[name]():
                elements = [getattr(f, "_as_graph_element", lambda f=f: f)() for f in fetches]
                found += Cluster(on_wire=False).cut(elements, feed)[1]
    return [wire.PartMessage.FromString(wire.encode(part)) for part in found]


def _compile_part(message: Any) -> None:
    part = wire.decode(message.SerializeToString())
    program_of_step(part.step, ResourceManager(), Options())


@pytest.mark.parametrize("start", range(3000, 3080, 40))
def test_a_peer_s_part_stays_data(parts: list[Any], start: int) -> None:
    for seed in range(start, start + 40):
        _check(_compile_part, parts[seed % len(parts)], seed)


# ---- names, one by one ---------------------------------------------------------------------


@pytest.mark.parametrize("route", ["import", "server"])
@pytest.mark.parametrize("name", long_but(["x"], ["args_0", "x", "layer/w", "identity"]))
def test_no_payload_in_a_name_runs(
    message: Any, on_a_server: Callable[[Any], None], route: str, name: str
) -> None:
    """Of an argument, a placeholder, a variable, a result."""
    use = _import_and_run if route == "import" else on_a_server
    assert name in {text.text for text in strings(message)}
    for payload in PAYLOADS:
        hostile = GraphDef()
        hostile.CopyFrom(message)
        renamed(hostile, name, name + payload)
        found, error = _outcome(use, hostile)
        assert not found.canary, payload
        assert error is not None or name == "identity" or payload in _VALID, payload


@pytest.mark.long
def test_no_payload_in_a_saved_model_s_argument_runs() -> None:
    with tempfile.TemporaryDirectory() as folder:
        saved = _saved_model(Path(folder))
        for payload in PAYLOADS:
            hostile = SavedModel()
            hostile.CopyFrom(saved)
            renamed(hostile, "args_0", "args_0" + payload)
            found, error = _outcome(_load_and_run(folder), hostile)
            assert not found.canary, payload
            assert error is not None or payload in _VALID, payload


def test_a_part_s_argument_has_a_valid_name(parts: list[Any]) -> None:
    for message in parts:
        for function in message.step.graph.library.function:
            for argument in function.signature.input_arg:
                for payload in PAYLOADS:
                    hostile = wire.PartMessage()
                    hostile.CopyFrom(message)
                    renamed(hostile, argument.name, argument.name + payload)
                    if payload not in _VALID:
                        with pytest.raises(tf.errors.InvalidArgumentError, match="Node name"):
                            wire.decode(hostile.SerializeToString())
                return
