"""SavedModels for the tests of serving, and a server of them with its clients."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import numpy as np

import penstock as tf
from penstock.cluster.distributed.security import Security
from penstock.cluster.serving.server import ModelServer, Options, Served
from penstock.foundation.formats import serving_messages as messages

PREDICT = "/tensorflow.serving.PredictionService/"
STATUS = "/tensorflow.serving.ModelService/"


def export_scaled(folder: Path, version: int, factor: float) -> None:
    """A version that multiplies rows of three by a factor: y = factor * sum, and the rows."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        scale = tf.Variable(factor, name="scale")
        y, rows = scale * tf.reduce_sum(x, 1), x * scale
        sess.run(tf.global_variables_initializer())
        target = str(folder / str(version))
        tf.saved_model.simple_save(sess, target, {"x": x}, {"y": y, "rows": rows})


def export_by_examples(folder: Path) -> None:
    """Classification, regression and strings, of one feature ``v``."""
    with tf.Graph().as_default(), tf.Session() as sess:
        text = tf.placeholder(tf.string, [None], name="examples")
        bias = {"v": tf.FixedLenFeature([], tf.float32), "b": tf.FixedLenFeature([], tf.float32, 0)}
        parsed = tf.parse_example(text, bias)
        value = parsed["v"] + parsed["b"]
        scores = tf.stack([value, 1 - value], 1)
        labels = tf.tile([["yes", "no"]], [tf.shape(value)[0], 1])
        words = tf.placeholder(tf.string, [None], name="words")
        joined = tf.string_join([words, "!"])
        sig = tf.saved_model.signature_def_utils
        info = tf.saved_model.build_tensor_info
        by_words = sig.build_signature_def(
            {"words": info(words)}, {"joined": info(joined), "joined_bytes": info(joined)},
            tf.saved_model.signature_constants.PREDICT_METHOD_NAME,
        )  # fmt: skip
        builder = tf.saved_model.builder.SavedModelBuilder(str(folder / "1"))
        builder.add_meta_graph_and_variables(
            sess, ["serve"],
            {
                "serving_default": sig.classification_signature_def(text, labels, scores),
                "value": sig.regression_signature_def(text, value),
                "words": by_words,
            },
        )  # fmt: skip
        builder.save()


@contextmanager
def serving(
    served: dict[str, Served], security: Security | None = None, **options: Any
) -> Iterator[ModelServer]:
    """A server at free ports of this machine."""
    options = {"rest_port": 0, "grpc_port": 0, "watch_seconds": 0.05} | options
    server = ModelServer(served, Options(**options), security or Security())
    try:
        server.start()
        yield server
    finally:
        server.stop()


def rest(server: ModelServer, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Status and answer of one request; ``body``: bytes, or what becomes JSON; None: a GET."""
    connection = http.client.HTTPConnection(server.rest_address, timeout=60)
    try:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("GET" if body is None else "POST", path, data, headers)
        response = connection.getresponse()
        text = response.read()
        is_json = response.headers["content-type"] == "application/json"
        return response.status, json.loads(text) if is_json else text.decode()
    finally:
        connection.close()


@contextmanager
def channel(server: ModelServer) -> Iterator[grpc.Channel]:
    """A gRPC channel to a server."""
    with grpc.insecure_channel(server.grpc_address) as made:
        yield made


def call(made: grpc.Channel, method: str, request: Any, answer: Any, **more: Any) -> Any:
    """One gRPC call."""
    function = made.unary_unary(
        method,
        request_serializer=lambda r: r if isinstance(r, bytes) else r.SerializeToString(),
        response_deserializer=answer.FromString,
    )
    return function(request, timeout=60, **more)


def predict_request(model: str, version: int | None = None, **arrays: Any) -> Any:
    """A ``PredictRequest``."""
    request = messages.PredictRequest()
    request.model_spec.name = model
    if version is not None:
        request.model_spec.version.value = version
    for name, value in arrays.items():
        request.inputs[name].CopyFrom(tf.make_tensor_proto(np.asarray(value)))
    return request
