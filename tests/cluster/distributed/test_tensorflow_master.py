"""TensorFlow's MasterService by hand-made messages: every call, its errors, and hostile bytes."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any

import grpc
import numpy as np
import pytest
import torch
from tensorboard.compat.proto import config_pb2
from tensorboard.compat.proto.tensor_pb2 import TensorProto

import penstock as tf
from penstock.cluster.distributed import rpc, rpc_services, tensor_messages
from penstock.cluster.distributed.security import Security
from penstock.foundation.base import dtypes, errors
from penstock.foundation.formats import master_messages as messages, tensor_proto
from tests.suite.clock import PATIENCE


@pytest.fixture(scope="module")
def server() -> Iterator[tf.train.Server]:
    made = tf.train.Server.create_local_server()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def stub(server: tf.train.Server) -> Iterator[rpc.Stub]:
    address = server.target.partition("://")[2]
    made = rpc.Stub(address, rpc_services.TENSORFLOW, "the server", Security())
    yield made
    made.close()


def _graph() -> Any:
    with tf.Graph().as_default() as graph:
        a = tf.placeholder(tf.float32, [None], name="a")
        b = tf.placeholder(tf.float32, [], name="b")
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        v.assign_add(1.0, name="more")
        c = tf.add(a, 1.0, name="c")
        tf.multiply(c, b, name="d")
        tf.check_numerics(a, "not good", name="checked")
        tf.FIFOQueue(1, tf.float32, [], name="queue").dequeue(name="get")
    return graph.as_graph_def()


def _tensor(value: Any, kind: Any = np.float32) -> Any:
    array = np.asarray(value, kind)
    return tensor_proto.to_proto(array, dtypes.as_dtype(array.dtype))


def _feed(**values: Any) -> list[Any]:
    return [
        messages.NamedTensorProto(name=f"{name}:0", tensor=_tensor(value))
        for name, value in values.items()
    ]


@pytest.fixture
def session(stub: rpc.Stub) -> Iterator[str]:
    request = messages.CreateSessionRequest(graph_def=_graph().SerializeToString())
    handle = stub.create_session(request, timeout=PATIENCE).session_handle
    yield handle
    try:
        stub.close_session(messages.CloseSessionRequest(session_handle=handle), timeout=PATIENCE)
    except errors.AbortedError:
        pass  # the test has closed it


def _run(stub: rpc.Stub, session: str, **fields: Any) -> Any:
    request = messages.RunStepRequest(session_handle=session, **fields)
    return stub.run_step(request, timeout=PATIENCE)


def _values(response: Any) -> dict[str, Any]:
    return {each.name: tensor_proto.to_array(each.tensor).tolist() for each in response.tensor}


def test_a_step_is_fed_fetched_and_run_by_names(stub: rpc.Stub, session: str) -> None:
    _run(stub, session, target=["v/Assign"])
    _run(stub, session, target=["more"])
    made = _run(
        stub, session, feed=_feed(a=[1, 2], b=3), fetch=["d:0", "c", "v/Read/ReadVariableOp:0"]
    )
    assert _values(made) == {"d:0": [6, 9], "c": [2, 3], "v/Read/ReadVariableOp:0": 2}
    assert [each.name for each in made.tensor] == ["d:0", "c", "v/Read/ReadVariableOp:0"]


def test_a_graph_grows_by_versions(stub: rpc.Stub, session: str) -> None:
    with tf.Graph().as_default() as graph:
        tf.constant([7, 8], name="new")
    request = messages.ExtendSessionRequest(
        session_handle=session, graph_def=graph.as_graph_def().SerializeToString(),
        current_graph_version=len(_graph().node),
    )  # fmt: skip
    assert stub.extend_session(request, timeout=PATIENCE).new_graph_version == (
        request.current_graph_version + 1
    )
    assert _values(_run(stub, session, fetch=["new:0"])) == {"new:0": [7, 8]}
    # Once more, as by a client that did not get the answer: it is there.
    assert stub.extend_session(request, timeout=PATIENCE).new_graph_version == (
        request.current_graph_version + 1
    )
    with tf.Graph().as_default() as graph:
        tf.constant(9, name="other")
    other = messages.ExtendSessionRequest()
    other.CopyFrom(request)
    other.graph_def = graph.as_graph_def().SerializeToString()
    with pytest.raises(errors.AbortedError, match="nodes here"):
        stub.extend_session(other, timeout=PATIENCE)
    request.current_graph_version += 1  # the same node once more
    with pytest.raises(errors.InvalidArgumentError, match="two nodes of one name"):
        stub.extend_session(request, timeout=PATIENCE)


def test_errors_are_in_the_body_where_that_is_asked_for(stub: rpc.Stub, session: str) -> None:
    fields: Any = {"feed": _feed(a=[np.nan]), "fetch": ["checked:0"]}
    answer = _run(stub, session, store_errors_in_response_body=True, **fields)
    assert answer.status_code == errors.INVALID_ARGUMENT
    assert "not good : Tensor had NaN" in answer.status_error_message
    assert answer.status_error_message.endswith("[[{{node checked}}]]")
    with pytest.raises(errors.InvalidArgumentError, match="not good"):
        _run(stub, session, **fields)


def test_a_status_is_one_that_tensorflow_s_clients_can_read(stub: rpc.Stub, session: str) -> None:
    """They take 8 KiB of metadata, and look for no message of Penstock's in it."""
    call: Any = stub.channel.unary_unary(f"/{rpc_services.TENSORFLOW}/RunStep")
    request = messages.RunStepRequest(session_handle=session, target=["é" * 5000])
    with pytest.raises(grpc.RpcError) as caught:
        call(request.SerializeToString(), timeout=PATIENCE)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert caught.value.details().startswith("the graph has no node")
    assert len(caught.value.details()) < 700
    assert not [key for key, _ in caught.value.trailing_metadata() or () if "penstock" in key]


@pytest.mark.parametrize(("fields", "kind", "text"), [
    ({"fetch": ["nothing:0"]}, errors.NotFoundError, "nothing:0"),
    ({"fetch": ["a:7"]}, errors.NotFoundError, "a:7"),
    ({"target": ["nothing"]}, errors.NotFoundError, "nothing"),
    ({}, errors.InvalidArgumentError, "at least one target"),
    ({"fetch": ["c:0"]}, errors.InvalidArgumentError, "placeholder"),
    ({"fetch": ["c:0"], "feed": [("a:0", _tensor([[1.0]]))]},
     errors.InvalidArgumentError, "shape"),
    ({"fetch": ["c:0"], "feed": [("a:0", _tensor([1], np.int32))]},
     errors.InvalidArgumentError, "int32"),
])  # fmt: skip
def test_what_a_step_may_not_ask_for(
    stub: rpc.Stub, session: str, fields: Any, kind: Any, text: str
) -> None:
    feed = [messages.NamedTensorProto(name=n, tensor=t) for n, t in fields.pop("feed", ())]
    with pytest.raises(kind, match=text):
        _run(stub, session, feed=feed, **fields)


def test_a_step_runs_in_parts(stub: rpc.Stub, session: str) -> None:
    declare = messages.PartialRunSetupRequest(
        session_handle=session, feed=["a:0", "b:0"], fetch=["c:0", "d:0"]
    )
    handle = stub.partial_run_setup(declare, timeout=PATIENCE).partial_run_handle
    first = _run(stub, session, partial_run_handle=handle, feed=_feed(a=[1]), fetch=["c:0"])
    with pytest.raises(errors.InvalidArgumentError, match="already been fetched"):
        _run(stub, session, partial_run_handle=handle, fetch=["c:0"])
    with pytest.raises(errors.InvalidArgumentError, match="not specified"):
        _run(stub, session, partial_run_handle=handle, fetch=["unknown:0"])
    second = _run(stub, session, partial_run_handle=handle, feed=_feed(b=5), fetch=["d:0"])
    assert (_values(first), _values(second)) == ({"c:0": [2]}, {"d:0": [10]})
    with pytest.raises(errors.InvalidArgumentError, match="Must run 'setup'"):
        _run(stub, session, partial_run_handle=handle, fetch=["d:0"])


def test_callables_are_run_by_number(stub: rpc.Stub, session: str) -> None:
    options = config_pb2.CallableOptions(feed=["b:0", "a:0"], fetch=["d:0", "c:0"])
    made = stub.make_callable(
        messages.MakeCallableRequest(session_handle=session, options=options), timeout=PATIENCE
    )
    by_number = {"session_handle": session, "handle": made.handle}
    answer = stub.run_callable(
        messages.RunCallableRequest(feed=[_tensor(3), _tensor([1, 2])], **by_number),
        timeout=PATIENCE,
    )
    assert [tensor_proto.to_array(each).tolist() for each in answer.fetch] == [[6, 9], [2, 3]]
    with pytest.raises(errors.InvalidArgumentError, match="takes 2 value"):
        stub.run_callable(messages.RunCallableRequest(**by_number), timeout=PATIENCE)
    stub.release_callable(messages.ReleaseCallableRequest(**by_number), timeout=PATIENCE)
    for method, request in (
        (stub.run_callable, messages.RunCallableRequest(**by_number)),
        (stub.release_callable, messages.ReleaseCallableRequest(**by_number)),
    ):
        with pytest.raises(errors.InvalidArgumentError, match="No such callable"):
            method(request, timeout=PATIENCE)


def test_a_traced_step_says_what_ran(stub: rpc.Stub, session: str) -> None:
    options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
    answer = _run(stub, session, feed=_feed(a=[1], b=2), fetch=["d:0"], options=options)
    recorded = config_pb2.RunMetadata.FromString(answer.metadata)
    names = [n.node_name for d in recorded.step_stats.dev_stats for n in d.node_stats]
    assert names == ["c", "d"]


def test_a_step_ends_in_its_time_and_when_its_caller_leaves(
    stub: rpc.Stub, session: str, server: tf.train.Server
) -> None:
    with pytest.raises(errors.DeadlineExceededError):
        _run(stub, session, fetch=["get:0"], options=config_pb2.RunOptions(timeout_in_ms=50))
    request = messages.RunStepRequest(session_handle=session, fetch=["get:0"])
    pending = stub.run_step.start(request, timeout=PATIENCE)
    ended = threading.Event()
    pending.on_done(ended.set)
    assert not ended.wait(0.2)
    pending.cancel()
    with pytest.raises(errors.CancelledError):
        pending.result()


def test_devices_and_a_session_that_is_closed(stub: rpc.Stub, session: str) -> None:
    for handle in ("", session):
        listed = stub.list_devices(
            messages.ListDevicesRequest(session_handle=handle), timeout=PATIENCE
        )
        assert listed.local_device[0].name == "/job:local/replica:0/task:0/device:CPU:0"
        assert not listed.remote_device
    stub.close_session(messages.CloseSessionRequest(session_handle=session), timeout=PATIENCE)
    with pytest.raises(errors.AbortedError, match="no session"):
        _run(stub, session, target=["v/Assign"])
    with pytest.raises(errors.AbortedError, match="no session"):
        stub.close_session(messages.CloseSessionRequest(session_handle=session), timeout=PATIENCE)


def test_a_reset_drops_state_and_ends_sessions(stub: rpc.Stub, session: str) -> None:
    _run(stub, session, target=["v/Assign"])
    stub.reset(messages.ResetRequest(), timeout=PATIENCE)
    with pytest.raises(errors.AbortedError, match="reset"):
        _run(stub, session, fetch=["a:0"], feed=_feed(a=[1]))


def test_a_stranger_reads_that_a_token_is_missing() -> None:
    served = rpc.serve("localhost:0", {rpc_services.TENSORFLOW: object()}, Security(token="secret"))
    stub = rpc.Stub(served.address, "Master", "the server", Security())
    call: Any = stub.channel.unary_unary(f"/{rpc_services.TENSORFLOW}/ListDevices")
    with pytest.raises(grpc.RpcError) as caught:
        call(b"", timeout=PATIENCE)
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert "PENSTOCK_TOKEN" in caught.value.details()
    stub.close()
    served.stop(0)


# ---- tensors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [
    torch.tensor([[1.5, -0.0]]), torch.zeros(0, 3), torch.tensor(True),
    torch.tensor([1, 2], dtype=torch.int8), torch.tensor([1.5], dtype=torch.bfloat16),
    torch.tensor([1 + 2j]), torch.arange(6).reshape(2, 3).T, 3, 2.5,
    np.array([b"a", b"\xff"], object),
])  # fmt: skip
def test_values_come_back(value: Any) -> None:
    message = TensorProto()
    kind = dtypes.string if isinstance(value, np.ndarray) else None
    if kind is None:
        made = value if isinstance(value, torch.Tensor) else torch.as_tensor(
            np.asarray(value))  # fmt: skip
        kind = dtypes.as_dtype(str(made.dtype).removeprefix("torch."))
        value = made
    tensor_messages.fill(message, value, kind)
    back = tensor_messages.read(message, 1 << 20)
    if isinstance(back, np.ndarray):
        assert back.tolist() == value.tolist()
    else:
        assert torch.equal(back, value)


def test_a_quantized_tensor_bears_its_own_type() -> None:
    message = TensorProto()
    tensor_messages.fill(message, torch.tensor([3], dtype=torch.uint8), dtypes.quint8)
    assert message.dtype == dtypes.quint8.as_datatype_enum
    assert tensor_messages.read(message, 100).dtype is torch.uint8


def _declared(dims: list[int], **fields: Any) -> Any:
    message = TensorProto(**fields)
    for size in dims:
        message.tensor_shape.dim.add(size=size)
    return message


@pytest.mark.parametrize(("message", "kind"), [
    (_declared([1 << 40], dtype=1, float_val=[1]), errors.ResourceExhaustedError),
    (_declared([1 << 40], dtype=7, string_val=[b"x"]), errors.ResourceExhaustedError),
    (_declared([1 << 62, 4], dtype=1, float_val=[1]), errors.InvalidArgumentError),
    (_declared([-1], dtype=1, float_val=[1]), errors.InvalidArgumentError),
    (_declared([1] * 70, dtype=1, float_val=[1]), errors.InvalidArgumentError),
    (_declared([2], dtype=1, tensor_content=b"abc"), errors.InvalidArgumentError),
    (_declared([1], dtype=1, float_val=[1, 2, 3]), errors.InvalidArgumentError),
    (_declared([1], dtype=10, tensor_content=b"\x07"), errors.InvalidArgumentError),
    (_declared([2], dtype=7, tensor_content=b"\xff"), errors.InvalidArgumentError),
    (_declared([], dtype=20), errors.InvalidArgumentError),
    (_declared([], dtype=999), errors.InvalidArgumentError),
    (_declared([], dtype=0), errors.InvalidArgumentError),
])  # fmt: skip
def test_hostile_tensors_cost_nothing(message: Any, kind: Any) -> None:
    with pytest.raises(kind):
        tensor_messages.read(message, 1 << 20)


# ---- hostile bytes -------------------------------------------------------------------------------


def _requests(session: str) -> dict[str, Any]:
    named = messages.NamedTensorProto(name="a:0", tensor=_tensor([1, 2]))
    options = config_pb2.CallableOptions(feed=["a:0"], fetch=["c:0"])
    graph = _graph().SerializeToString()
    return {
        "CreateSession": messages.CreateSessionRequest(graph_def=graph, target="grpc://here:1"),
        "ExtendSession": messages.ExtendSessionRequest(
            session_handle=session, graph_def=graph, current_graph_version=5),
        "RunStep": messages.RunStepRequest(
            session_handle=session, feed=[named], fetch=["c:0"], target=["more"],
            options=config_pb2.RunOptions(timeout_in_ms=500)),
        "PartialRunSetup": messages.PartialRunSetupRequest(
            session_handle=session, feed=["a:0"], fetch=["c:0"]),
        "MakeCallable": messages.MakeCallableRequest(session_handle=session, options=options),
        "RunCallable": messages.RunCallableRequest(
            session_handle=session, handle=1, feed=[_tensor([1, 2])]),
        "ReleaseCallable": messages.ReleaseCallableRequest(session_handle=session, handle=1),
        "ListDevices": messages.ListDevicesRequest(session_handle=session),
        "CloseSession": messages.CloseSessionRequest(session_handle="none"),
    }  # fmt: skip


def _spoiled(data: bytes, dice: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(made) + 1)
        end = min(len(made), at + dice.randint(0, 8))
        made[at:end] = dice.choice(
            [b"", dice.randbytes(3), b"\xff" * 9, bytes(made[:5]), b"\x00", bytes(made[at:end]) * 3]
        )
    return bytes(made)


def test_hostile_bytes_get_errors_of_their_own(
    stub: rpc.Stub, session: str, caplog: pytest.LogCaptureFixture
) -> None:
    _run(stub, session, target=["v/Assign"])
    dice = random.Random(20)
    outcomes = set()
    for name, request in _requests(session).items():
        call: Any = stub.channel.unary_unary(f"/{rpc_services.TENSORFLOW}/{name}")
        data = request.SerializeToString()
        for _ in range(40):
            try:
                call(_spoiled(data, dice), timeout=PATIENCE)
            except grpc.RpcError as error:
                assert error.code() is not grpc.StatusCode.INTERNAL, (name, error.details())
                outcomes.add(error.code())
    assert grpc.StatusCode.INVALID_ARGUMENT in outcomes
    assert "a defect of Penstock" not in caplog.text
    assert _values(_run(stub, session, feed=_feed(a=[1]), fetch=["c:0"])) == {"c:0": [2]}
