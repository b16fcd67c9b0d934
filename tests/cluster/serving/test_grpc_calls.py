"""The gRPC calls of a running server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

import penstock as tf
from penstock.cluster.serving.server import ModelServer, Served
from penstock.foundation.formats import serving_messages as messages
from penstock.foundation.formats.tensor_proto import to_array
from tests.cluster.distributed import certificates
from tests.cluster.serving.models_of_tests import (
    PREDICT,
    STATUS,
    call,
    channel,
    export_by_examples,
    export_scaled,
    predict_request,
    serving,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    folder = tmp_path_factory.mktemp("models")
    export_scaled(folder / "scaled", 4, 2.0)
    export_by_examples(folder / "examples")
    served = {name: Served(str(folder / name)) for name in ("scaled", "examples")}
    with serving(served, rest_port=None) as made:
        yield made


@pytest.fixture(scope="module")
def stub(server: ModelServer) -> Iterator[grpc.Channel]:
    with channel(server) as made:
        yield made


def _example(**features: float) -> bytes:
    example = tf.train.Example()
    for name, value in features.items():
        example.features.feature[name].float_list.value.append(value)
    return bytes(example.SerializeToString())


def test_predict(stub: grpc.Channel) -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    answer = call(
        stub, PREDICT + "Predict", predict_request("scaled", x=x), messages.PredictResponse
    )
    spec = answer.model_spec
    assert (spec.name, spec.version.value, spec.signature_name) == ("scaled", 4, "serving_default")
    np.testing.assert_array_equal(to_array(answer.outputs["rows"]), x * 2)
    np.testing.assert_array_equal(to_array(answer.outputs["y"]), x.sum(1) * 2)
    request = predict_request("scaled", 4, x=x)
    request.output_filter.append("y")
    answer = call(stub, PREDICT + "Predict", request, messages.PredictResponse)
    assert list(answer.outputs) == ["y"]


def test_classify_regress_and_several(stub: grpc.Channel) -> None:
    request = messages.ClassificationRequest()
    request.model_spec.name = "examples"
    request.input.example_list.examples.append(_example(v=0.25))
    answer = call(stub, PREDICT + "Classify", request, messages.ClassificationResponse)
    (row,) = answer.result.classifications
    assert [(c.label, c.score) for c in row.classes] == [("yes", 0.25), ("no", 0.75)]

    with_context = messages.RegressionRequest()
    with_context.model_spec.name = "examples"
    with_context.model_spec.signature_name = "value"
    some = with_context.input.example_list_with_context
    some.context = _example(b=0.5)
    some.examples.extend([_example(v=0.25), _example(v=1, b=2)])
    answer = call(stub, PREDICT + "Regress", with_context, messages.RegressionResponse)
    assert [r.value for r in answer.result.regressions] == [0.75, 3.0]

    several = messages.MultiInferenceRequest(input=request.input)
    for kind, signature in (("classify", ""), ("regress", "value")):
        task = several.tasks.add(method_name=f"tensorflow/serving/{kind}")
        task.model_spec.name, task.model_spec.signature_name = "examples", signature
    answer = call(stub, PREDICT + "MultiInference", several, messages.MultiInferenceResponse)
    first, second = answer.results
    assert first.classification_result.classifications[0].classes[1].score == 0.75
    assert [r.value for r in second.regression_result.regressions] == [0.25]


def test_metadata_and_status(stub: grpc.Channel) -> None:
    asked = messages.GetModelMetadataRequest(metadata_field=["signature_def"])
    asked.model_spec.name = "scaled"
    answer = call(stub, PREDICT + "GetModelMetadata", asked, messages.GetModelMetadataResponse)
    found = messages.SignatureDefMap.FromString(answer.metadata["signature_def"].value)
    assert set(found.signature_def["serving_default"].outputs) == {"y", "rows"}
    status = messages.GetModelStatusRequest()
    status.model_spec.name = "scaled"
    (row,) = call(
        stub, STATUS + "GetModelStatus", status, messages.GetModelStatusResponse
    ).model_version_status
    assert (row.version, row.state, row.status.error_code) == (4, 30, 0)


ROW = np.zeros((1, 3), np.float32)
CODE = grpc.StatusCode


@pytest.mark.parametrize(
    ("method", "request_", "code", "why"),
    [
        ("Predict", predict_request("", x=ROW), CODE.INVALID_ARGUMENT, "names no model"),
        ("Predict", predict_request("no", x=ROW), CODE.NOT_FOUND, r"Latest\(no\)"),
        ("Predict", predict_request("scaled", 9, x=ROW), CODE.NOT_FOUND, r"Specific\(scaled, 9\)"),
        ("Predict", predict_request("scaled", y=ROW), CODE.INVALID_ARGUMENT, "not taken: y"),
        ("Predict", predict_request("scaled"), CODE.INVALID_ARGUMENT, "missing: x"),
        ("Predict", predict_request("scaled", x=[[1, 2, 3]]), CODE.INVALID_ARGUMENT, "is int"),
        ("Predict", predict_request("scaled", x=ROW[0]), CODE.INVALID_ARGUMENT, "has shape"),
        ("Classify", messages.ClassificationRequest(), CODE.INVALID_ARGUMENT, "names no model"),
        ("Predict", b"\xff\xff", CODE.INVALID_ARGUMENT, "is no PredictRequest"),
        ("Explain", b"", CODE.UNIMPLEMENTED, "not found"),
    ],
)  # fmt: skip
def test_wrong_requests(
    stub: grpc.Channel, method: str, request_: Any, code: grpc.StatusCode, why: str
) -> None:
    with pytest.raises(grpc.RpcError, match=why) as caught:
        call(stub, PREDICT + method, request_, messages.PredictResponse)
    assert caught.value.code() == code  # type: ignore[attr-defined]


def test_a_tensor_that_does_not_hold_what_it_says(stub: grpc.Channel) -> None:
    request = predict_request("scaled", x=ROW)
    request.inputs["x"].tensor_content = b"1234567"
    with pytest.raises(grpc.RpcError, match="tensor parsing error: x"):
        call(stub, PREDICT + "Predict", request, messages.PredictResponse)
    request.inputs["x"].tensor_shape.dim[0].size = 1 << 40
    with pytest.raises(grpc.RpcError, match="tensor parsing error: x"):
        call(stub, PREDICT + "Predict", request, messages.PredictResponse)


def test_mutual_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in certificates.environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    from penstock.cluster.distributed.security import Security

    security = Security.from_environment()
    export_scaled(tmp_path / "m", 1, 1.0)
    with serving({"m": Served(str(tmp_path / "m"))}, security) as server:
        credentials = security.channel_credentials()
        assert credentials is not None
        with grpc.secure_channel(server.grpc_address, credentials) as made:
            call(made, PREDICT + "Predict", predict_request("m", x=ROW), messages.PredictResponse)
        only_server = grpc.ssl_channel_credentials(security.tls.authority)  # type: ignore[union-attr]
        with (
            grpc.secure_channel(server.grpc_address, only_server) as made,
            pytest.raises(grpc.RpcError),
        ):
            call(made, PREDICT + "Predict", predict_request("m", x=ROW), messages.PredictResponse)
        _rest_wants_a_certificate(server, tmp_path)


def _rest_wants_a_certificate(server: ModelServer, folder: Path) -> None:
    import ssl
    import urllib.error
    import urllib.request

    url = f"https://{server.rest_address}/v1/models/m"
    context = ssl.create_default_context(cafile=str(folder / "CA.pem"))
    with pytest.raises((urllib.error.URLError, ssl.SSLError, ConnectionError)):
        urllib.request.urlopen(url, context=context, timeout=30)
    context.load_cert_chain(folder / "CERT.pem", folder / "KEY.pem")
    with urllib.request.urlopen(url, context=context, timeout=30) as response:
        assert response.status == 200
