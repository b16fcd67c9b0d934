"""Messages of TensorFlow's ``MasterService``, with its names and field numbers.

``penstock.cluster.distributed.tensorflow_master`` answers them.  A graph and a config are bytes
here, which is the same on the wire: how large they are is looked at before they are parsed.  So is
what a traced step has recorded.  A status code is an enum there, which is a number on the wire.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import config_pb2, tensor_pb2

from penstock.foundation.formats.message_table import Rows, make_messages

_MESSAGES: dict[str, Rows] = {
    "NamedTensorProto": {"name": (1, "string"), "tensor": (2, "tensorboard.TensorProto")},
    # Without the locality of a device, which says how GPUs are connected.
    "DeviceAttributes": {
        "name": (1, "string"), "device_type": (2, "string"), "memory_limit": (4, "int64"),
        "incarnation": (6, "fixed64"), "physical_device_desc": (7, "string"),
    },
    # ---- sessions ----------------------------------------------------------------------------
    "CreateSessionRequest": {
        "graph_def": (1, "bytes"), "config": (2, "bytes"), "target": (3, "string"),
    },
    "CreateSessionResponse": {"session_handle": (1, "string"), "graph_version": (2, "int64")},
    "ExtendSessionRequest": {
        "session_handle": (1, "string"), "graph_def": (2, "bytes"),
        "current_graph_version": (3, "int64"),
    },
    "ExtendSessionResponse": {"new_graph_version": (4, "int64")},
    "CloseSessionRequest": {"session_handle": (1, "string")},
    "CloseSessionResponse": {},
    "ResetRequest": {"container": (1, "*string"), "device_filters": (2, "*string")},
    "ResetResponse": {},
    "ListDevicesRequest": {"session_handle": (1, "string")},
    "ListDevicesResponse": {
        "local_device": (1, "*DeviceAttributes"), "remote_device": (2, "*DeviceAttributes"),
    },
    # ---- steps -------------------------------------------------------------------------------
    "RunStepRequest": {
        "session_handle": (1, "string"), "feed": (2, "*NamedTensorProto"),
        "fetch": (3, "*string"), "target": (4, "*string"),
        "options": (5, "tensorboard.RunOptions"), "partial_run_handle": (6, "string"),
        "store_errors_in_response_body": (7, "bool"), "request_id": (8, "int64"),
    },
    "RunStepResponse": {
        "tensor": (1, "*NamedTensorProto"), "metadata": (2, "bytes"),
        "status_code": (3, "int32"), "status_error_message": (4, "string"),
    },
    "PartialRunSetupRequest": {
        "session_handle": (1, "string"), "feed": (2, "*string"), "fetch": (3, "*string"),
        "target": (4, "*string"), "request_id": (5, "int64"),
    },
    "PartialRunSetupResponse": {"partial_run_handle": (1, "string")},
    "MakeCallableRequest": {
        "session_handle": (1, "string"), "options": (2, "tensorboard.CallableOptions"),
        "request_id": (3, "int64"),
    },
    "MakeCallableResponse": {"handle": (1, "int64")},
    "RunCallableRequest": {
        "session_handle": (1, "string"), "handle": (2, "int64"),
        "feed": (3, "*tensorboard.TensorProto"), "request_id": (4, "int64"),
    },
    "RunCallableResponse": {"fetch": (1, "*tensorboard.TensorProto"), "metadata": (2, "bytes")},
    "ReleaseCallableRequest": {"session_handle": (1, "string"), "handle": (2, "int64")},
    "ReleaseCallableResponse": {},
}  # fmt: skip

CLASSES: dict[str, Any] = make_messages(
    "master_messages", _MESSAGES, imported=(config_pb2, tensor_pb2), package="penstock.master"
)
NamedTensorProto: Any = CLASSES["NamedTensorProto"]
DeviceAttributes: Any = CLASSES["DeviceAttributes"]
CreateSessionRequest: Any = CLASSES["CreateSessionRequest"]
CreateSessionResponse: Any = CLASSES["CreateSessionResponse"]
ExtendSessionRequest: Any = CLASSES["ExtendSessionRequest"]
ExtendSessionResponse: Any = CLASSES["ExtendSessionResponse"]
CloseSessionRequest: Any = CLASSES["CloseSessionRequest"]
CloseSessionResponse: Any = CLASSES["CloseSessionResponse"]
ResetRequest: Any = CLASSES["ResetRequest"]
ResetResponse: Any = CLASSES["ResetResponse"]
ListDevicesRequest: Any = CLASSES["ListDevicesRequest"]
ListDevicesResponse: Any = CLASSES["ListDevicesResponse"]
RunStepRequest: Any = CLASSES["RunStepRequest"]
RunStepResponse: Any = CLASSES["RunStepResponse"]
PartialRunSetupRequest: Any = CLASSES["PartialRunSetupRequest"]
PartialRunSetupResponse: Any = CLASSES["PartialRunSetupResponse"]
MakeCallableRequest: Any = CLASSES["MakeCallableRequest"]
MakeCallableResponse: Any = CLASSES["MakeCallableResponse"]
RunCallableRequest: Any = CLASSES["RunCallableRequest"]
RunCallableResponse: Any = CLASSES["RunCallableResponse"]
ReleaseCallableRequest: Any = CLASSES["ReleaseCallableRequest"]
ReleaseCallableResponse: Any = CLASSES["ReleaseCallableResponse"]
