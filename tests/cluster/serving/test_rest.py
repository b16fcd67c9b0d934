"""The REST calls of a running server."""

from __future__ import annotations

import base64
import http.client
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.cluster.distributed.security import Security
from penstock.cluster.serving.server import ModelServer, Served
from penstock.cluster.serving.versions import Policy
from tests.cluster.serving.models_of_tests import export_by_examples, export_scaled, rest, serving

SCALED, EXAMPLES = "/v1/models/scaled:predict", "/v1/models/examples"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    folder = tmp_path_factory.mktemp("models")
    for version, factor in ((1, 10.0), (3, 30.0)):
        export_scaled(folder / "scaled", version, factor)
    export_by_examples(folder / "examples")
    served = {
        "scaled": Served(str(folder / "scaled"), Policy(), {"stable": 1}),
        "examples": Served(str(folder / "examples" / "1")),  # a SavedModel by itself
    }
    with serving(served, most_bytes=100_000) as made:
        yield made


def test_rows(server: ModelServer) -> None:
    rows = [[1, 2, 3], [0, 0, 0.5]]
    expected = [
        {"rows": [30.0, 60.0, 90.0], "y": 180.0},
        {"rows": [0.0, 0.0, 15.0], "y": 15.0},
    ]
    assert rest(server, SCALED, {"instances": rows}) == (200, {"predictions": expected})
    named = [{"x": row} for row in rows]
    body = {"signature_name": "serving_default", "instances": named}
    assert rest(server, SCALED, body) == (200, {"predictions": expected})


def test_columns(server: ModelServer) -> None:
    expected = {"outputs": {"rows": [[30.0, 60.0, 90.0]], "y": [180.0]}}
    for inputs in ([[1, 2, 3]], {"x": [[1, 2, 3]]}):
        assert rest(server, SCALED, {"inputs": inputs}) == (200, expected)


def test_calls_of_a_kept_connection_wait_for_no_acknowledgement(server: ModelServer) -> None:
    # An answer's head and body are written one after the other: where the second waits until the
    # first is acknowledged, each call takes 40 ms at least.
    connection = http.client.HTTPConnection(server.rest_address, timeout=60)
    times = []
    for _ in range(60):
        began = time.perf_counter()
        connection.request("POST", SCALED, b'{"instances": [[1, 2, 3]]}')
        response = connection.getresponse()
        assert response.status == 200 and response.read()
        times.append(time.perf_counter() - began)
    connection.close()
    assert sorted(times)[15] < 0.03, times


def test_versions_and_labels(server: ModelServer) -> None:
    for part, y in (("/versions/1", 60.0), ("/versions/3", 180.0), ("/labels/stable", 60.0)):
        path = f"/v1/models/scaled{part}:predict"
        found = rest(server, path, {"inputs": [[1, 2, 3]]})[1]["outputs"]["y"]
        assert found == [y]


def test_numbers_that_json_has_no_words_for(server: ModelServer) -> None:
    body = b'{"inputs": [[1, NaN, 2], [Infinity, 0, 0], [1e400, 0, 0]]}'
    status, found = rest(server, SCALED, body)
    assert status == 200
    assert [str(y) for y in found["outputs"]["y"]] == ["nan", "inf", "inf"]


def test_strings(server: ModelServer) -> None:
    hostile = base64.b64encode(b"\xff\x00").decode()
    body = {"signature_name": "words", "instances": ["a", {"b64": hostile}, "ä"]}
    status, found = rest(server, EXAMPLES + ":predict", body)
    assert status == 200
    plain = [row["joined"] for row in found["predictions"]]
    in_base64 = [base64.b64decode(row["joined_bytes"]["b64"]) for row in found["predictions"]]
    assert in_base64 == [b"a!", b"\xff\x00!", "ä!".encode()]
    assert plain == ["a!", {"b64": base64.b64encode(b"\xff\x00!").decode()}, "ä!"]


def test_classify_and_regress(server: ModelServer) -> None:
    body = {"examples": [{"v": 0.25}, {"v": [0.5], "b": 0.25}], "context": {"b": 0.5}}
    status, found = rest(server, EXAMPLES + ":classify", body)
    assert (status, found) == (
        200, {"results": [[["yes", 0.75], ["no", 0.25]], [["yes", 0.75], ["no", 0.25]]]}
    )  # fmt: skip
    body |= {"signature_name": "value"}
    assert rest(server, EXAMPLES + ":regress", body) == (200, {"results": [0.75, 0.75]})


def test_status_and_metadata(server: ModelServer) -> None:
    status, found = rest(server, "/v1/models/scaled")
    ok = {"error_code": "OK", "error_message": ""}
    assert (status, found["model_version_status"]) == (
        200, [{"version": str(v), "state": "AVAILABLE", "status": ok} for v in (3, 1)]
    )  # fmt: skip
    status, found = rest(server, "/v1/models/scaled/labels/stable")
    assert [row["version"] for row in found["model_version_status"]] == ["1"]
    status, found = rest(server, "/v1/models/scaled/versions/1/metadata")
    assert found["model_spec"] == {"name": "scaled", "signature_name": "", "version": "1"}
    signature = found["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["method_name"] == "tensorflow/serving/predict"
    assert signature["inputs"]["x"]["dtype"] == "DT_FLOAT"


def test_health_and_metrics(server: ModelServer) -> None:
    assert rest(server, "/healthz") == (200, "ok\n")
    assert rest(server, "/readyz") == (200, "ok\n")
    rest(server, SCALED, {"inputs": [[1, 2, 3]]})
    rest(server, "/v1/models/made_up:predict", {"inputs": 1})
    for path in ("/metrics", "/monitoring/prometheus/metrics"):
        _, page = rest(server, path)
        assert 'penstock_serving_calls_total{call="predict",code="OK",model="scaled"}' in page
        assert 'code="NotFoundError",model=""' in page and "made_up" not in page
        assert 'penstock_serving_version_answers{model="scaled",version="3"} 1.0' in page


WRONG: list[tuple[str, Any, int, str]] = [
    (SCALED, b"", 400, "JSON Parse error"),
    (SCALED, b'{"instances": [', 400, "JSON Parse error"),
    (SCALED, b"[" * 50_000, 400, "JSON Parse error"),
    (SCALED, b'{"inputs": NaN' + b"[" * 50_000, 400, "JSON Parse error"),
    (SCALED, b'{"inputs": NaN, "signature_name": "\\ud800"}', 400, "JSON Parse error"),
    (SCALED, [1], 400, "the body is a list; it must be an object"),
    (SCALED, {}, 400, "Missing 'inputs' or 'instances' key"),
    (SCALED, {"inputs": [[1, 2, 3]], "instances": [1]}, 400, "has one of the two"),
    (SCALED, {"instances": []}, 400, "at least one row"),
    (SCALED, {"instances": {"x": 1}}, 400, "'instances' is an object"),
    (SCALED, {"instances": [[1, 2, 3], {"x": 1}]}, 400, "mixes objects and values"),
    (SCALED, {"instances": [{"x": [1, 2, 3]}, {}]}, 400, "row 1 of 'instances' has the tensors"),
    (SCALED, {"instances": [{"z": 1}]}, 400, "does not take; it takes x"),
    (SCALED, {"instances": [[1, 2], [1, 2, 3]]}, 400, "lists of different lengths"),
    (SCALED, {"instances": [[1, 2]]}, 400, "shape [1, 2]; it must be (?, 3)"),
    (SCALED, {"instances": [1]}, 400, "shape [1]; it must be"),
    (SCALED, {"inputs": {}}, 400, "missing: x"),
    (SCALED, {"inputs": [["a", "b", "c"]]}, 400, "a text where float32 is expected"),
    (SCALED, {"inputs": [[True, False, True]]}, 400, "bool where float32 is expected"),
    (SCALED, {"inputs": [[1e39, 1, 2]]}, 400, "a number that float32 cannot hold"),
    (SCALED, {"inputs": [[None, 1, 2]]}, 400, "object where float32 is expected"),
    (SCALED, {"inputs": [[{}, 1, 2]]}, 400, "object where float32 is expected"),
    (SCALED, {"inputs": [[1, 2, 3]], "signature_name": "no"}, 400, 'key "no" not found'),
    (SCALED, {"inputs": [[1, 2, 3]], "signature_name": 3}, 400, "must be a text"),
    (SCALED, b" " * 100_001, 413, "more than 100000 bytes"),
    (SCALED, None, 405, "allowed is POST"),
    ("/v1/models/scaled", {}, 405, "allowed is GET"),
    ("/v1/models/none:predict", {"inputs": 1}, 404, "models here: examples, scaled"),
    ("/v1/models/scaled/versions/2:predict", {"inputs": 1}, 404, "versions that answer: 1, 3"),
    ("/v1/models/scaled/versions/2", None, 404, "Could not find any versions of version 2"),
    ("/v1/models/scaled/versions/x:predict", {"inputs": 1}, 404, "Malformed request"),
    ("/v1/models/scaled/labels/new:predict", {"inputs": 1}, 400, "version label: new"),
    ("/v1/models/scaled:explain", {}, 404, "Malformed request"),
    ("/v2/models", None, 404, "Malformed request"),
    ("/v1/models/scaled:classify", {"examples": [{"v": 1}]}, 400, "classification signature"),
    (EXAMPLES + ":classify", {"examples": []}, 400, "at least one object"),
    (EXAMPLES + ":classify", {"examples": [1]}, 400, "example 0 is no object"),
    (EXAMPLES + ":classify", {"examples": [{"v": [1.5, "a"]}]}, 400, "no list of numbers"),
    (EXAMPLES + ":classify", {"examples": [{"v": 1}]}, 400, "Data types don't match"),
    (EXAMPLES + ":classify", {"examples": [{"v": 1.0}], "context": 3}, 400, "the context is no"),
    (EXAMPLES + ":regress", {"examples": [{"v": 1.0}]}, 400, "Expected regression signature"),
    (EXAMPLES + ":predict", {"instances": [{"b64": "?"}], "signature_name": "words"}, 400,
     "base64"),
    (EXAMPLES + ":predict", {"instances": [3], "signature_name": "words"}, 400,
     "a number where string is expected"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "status", "why"), WRONG)
def test_wrong_requests(server: ModelServer, path: str, body: Any, status: int, why: str) -> None:
    found, answer = rest(server, path, body)
    assert (found, why in answer["error"]) == (status, True), (found, answer)
    assert rest(server, SCALED, {"inputs": [[1, 2, 3]]})[0] == 200


def test_a_token_is_asked_for(tmp_path: Path) -> None:
    export_scaled(tmp_path, 1, 1.0)
    with serving({"m": Served(str(tmp_path))}, Security(token="secret"), grpc_port=None) as server:
        path, body = "/v1/models/m:predict", {"inputs": [[1, 2, 3]]}
        assert rest(server, path, body)[0] == 401
        assert rest(server, path, body, Authorization="Bearer wrong")[0] == 401
        assert rest(server, path, body, Authorization="Bearer secret")[0] == 200
        assert rest(server, "/metrics")[0] == 401
        assert rest(server, "/readyz")[0] == 200


def test_a_model_that_cannot_be_loaded(tmp_path: Path) -> None:
    export_scaled(tmp_path / "made", 1, 1.0)
    (tmp_path / "models").mkdir()
    shutil.copytree(tmp_path / "made" / "1", tmp_path / "models" / "1")
    (tmp_path / "models" / "1" / "saved_model.pb").write_bytes(b"no message")
    with serving({"m": Served(str(tmp_path / "models"))}) as server:
        assert rest(server, "/readyz")[0] == 503
        _, found = rest(server, "/v1/models/m")
        row = found["model_version_status"][0]
        assert row["state"] == "END" and row["status"]["error_message"]
