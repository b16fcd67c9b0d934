"""Messages of TensorFlow Serving's calls, with its field numbers.

``penstock.cluster.serving`` answers them.  What is another package's there stands in the table as
well (a number, an ``Any``, a status), with the same fields; a status's code and a version's
state are enums there, which are numbers on the wire.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import meta_graph_pb2, tensor_pb2

from penstock.foundation.formats.message_table import Rows, make_messages

_MESSAGES: dict[str, Rows] = {
    "Int64Value": {"value": (1, "int64")},
    "TypedBytes": {"type_url": (1, "string"), "value": (2, "bytes")},
    "ModelSpec": {
        "name": (1, "string"), "version": (2, "?Int64Value"), "version_label": (4, "?string"),
        "signature_name": (3, "string"),
    },
    # ---- predict -----------------------------------------------------------------------------
    "PredictRequest": {
        "model_spec": (1, "ModelSpec"), "inputs": (2, "map<tensorboard.TensorProto>"),
        "output_filter": (3, "*string"),
    },
    "PredictResponse": {
        "outputs": (1, "map<tensorboard.TensorProto>"), "model_spec": (2, "ModelSpec"),
    },
    # ---- classify, regress -------------------------------------------------------------------
    # The examples are not looked into: models parse them.
    "ExampleList": {"examples": (1, "*bytes")},
    "ExampleListWithContext": {"examples": (1, "*bytes"), "context": (2, "bytes")},
    "ServingInput": {
        "example_list": (1, "?ExampleList"),
        "example_list_with_context": (2, "?ExampleListWithContext"),
    },
    "ClassificationRequest": {"model_spec": (1, "ModelSpec"), "input": (2, "ServingInput")},
    "ServedClass": {"label": (1, "string"), "score": (2, "float")},
    "Classifications": {"classes": (1, "*ServedClass")},
    "ClassificationResult": {"classifications": (1, "*Classifications")},
    "ClassificationResponse": {
        "result": (1, "ClassificationResult"), "model_spec": (2, "ModelSpec"),
    },
    "RegressionRequest": {"model_spec": (1, "ModelSpec"), "input": (2, "ServingInput")},
    "Regression": {"value": (1, "float")},
    "RegressionResult": {"regressions": (1, "*Regression")},
    "RegressionResponse": {"result": (1, "RegressionResult"), "model_spec": (2, "ModelSpec")},
    # ---- several of them for the same examples -----------------------------------------------
    "InferenceTask": {"model_spec": (1, "ModelSpec"), "method_name": (2, "string")},
    "MultiInferenceRequest": {"tasks": (1, "*InferenceTask"), "input": (2, "ServingInput")},
    "InferenceResult": {
        "model_spec": (1, "ModelSpec"), "classification_result": (2, "?ClassificationResult"),
        "regression_result": (3, "?RegressionResult"),
    },
    "MultiInferenceResponse": {"results": (1, "*InferenceResult")},
    # ---- what a model is, and how it is ------------------------------------------------------
    "GetModelMetadataRequest": {"model_spec": (1, "ModelSpec"), "metadata_field": (2, "*string")},
    "GetModelMetadataResponse": {
        "model_spec": (1, "ModelSpec"), "metadata": (2, "map<TypedBytes>"),
    },
    "SignatureDefMap": {"signature_def": (1, "map<tensorboard.SignatureDef>")},
    "GetModelStatusRequest": {"model_spec": (1, "ModelSpec")},
    "ServingStatus": {"error_code": (1, "int32"), "error_message": (2, "string")},
    "ModelVersionStatus": {
        "version": (1, "int64"), "state": (2, "int32"), "status": (3, "ServingStatus"),
    },
    "GetModelStatusResponse": {"model_version_status": (1, "*ModelVersionStatus")},
}  # fmt: skip

_MADE = make_messages(
    "serving_messages",
    _MESSAGES,
    imported=(meta_graph_pb2, tensor_pb2),
    oneofs={
        "ModelSpec": "version_choice", "ServingInput": "kind",
        "InferenceResult": "inference_result",
    },
)  # fmt: skip
ModelSpec: Any = _MADE["ModelSpec"]
PredictRequest: Any = _MADE["PredictRequest"]
PredictResponse: Any = _MADE["PredictResponse"]
ServingInput: Any = _MADE["ServingInput"]
ClassificationRequest: Any = _MADE["ClassificationRequest"]
ClassificationResponse: Any = _MADE["ClassificationResponse"]
ClassificationResult: Any = _MADE["ClassificationResult"]
RegressionRequest: Any = _MADE["RegressionRequest"]
RegressionResponse: Any = _MADE["RegressionResponse"]
RegressionResult: Any = _MADE["RegressionResult"]
MultiInferenceRequest: Any = _MADE["MultiInferenceRequest"]
MultiInferenceResponse: Any = _MADE["MultiInferenceResponse"]
GetModelMetadataRequest: Any = _MADE["GetModelMetadataRequest"]
GetModelMetadataResponse: Any = _MADE["GetModelMetadataResponse"]
SignatureDefMap: Any = _MADE["SignatureDefMap"]
GetModelStatusRequest: Any = _MADE["GetModelStatusRequest"]
GetModelStatusResponse: Any = _MADE["GetModelStatusResponse"]
