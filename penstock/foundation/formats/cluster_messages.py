"""Messages between clients, masters and workers.

The protocol is Penstock's own, not TensorFlow's (for that see ``master_messages``): what stands
here is read only by Penstock.  Graphs
are GraphDefs (the user's, and a task's part as ``partition.wire`` writes it), devices and run
options ``tensorboard``'s messages, tensors a type, a shape and the raw bytes.

A client speaks to a master (``Master``), a master and other workers to workers (``Worker``).  The
table has the form of ``formats.message_table``.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.formats.message_table import Rows, make_messages

_MESSAGES: dict[str, Rows] = {
    # ---- values ------------------------------------------------------------------------------
    # content: little-endian elements in C order; a string tensor has its elements in ``strings``.
    "TensorValue": {
        "dtype": (1, "int32"),
        "dims": (2, "*int64"),
        "content": (3, "bytes"),
        "strings": (4, "*bytes"),
    },
    "Failure": {
        "code": (1, "int32"),
        "message": (2, "string"),
        "node": (3, "string"),
        "task": (4, "string"),
    },
    "Device": {
        "name": (1, "string"),
        "device_type": (2, "string"),
        "memory_limit": (3, "int64"),
        "incarnation": (4, "fixed64"),
    },
    # ---- client to master --------------------------------------------------------------------
    # A graph larger than a message comes in pieces: ``graph`` and then by ExtendSession.
    "CreateSessionRequest": {
        "graph": (1, "bytes"),
        "config": (2, "bytes"),
        "target": (3, "string"),
    },
    "CreateSessionResponse": {"session": (1, "string"), "nodes": (2, "int64")},
    "ExtendSessionRequest": {
        "session": (1, "string"),
        "graph": (2, "bytes"),
        # How many nodes the sender believes the session's graph has.
        "nodes": (3, "int64"),
    },
    "ExtendSessionResponse": {"nodes": (1, "int64")},
    "PrepareStepRequest": {
        "session": (1, "string"),
        "feeds": (2, "*string"),
        "fetches": (3, "*string"),
        "targets": (4, "*string"),
        "nodes": (5, "int64"),
        "done": (6, "*string"),
        "timeout_in_ms": (7, "int64"),
    },
    "PrepareStepResponse": {"step": (1, "string")},
    # What each task recorded of a traced step: a RunMetadata by the task's name.
    "TaskMetadata": {"task": (1, "string"), "metadata": (2, "bytes")},
    "RunStepRequest": {
        "session": (1, "string"),
        "step": (2, "string"),
        "values": (3, "*TensorValue"),
        "trace": (4, "int32"),
        "timeout_in_ms": (5, "int64"),
    },
    "RunStepResponse": {
        "values": (1, "*TensorValue"),
        "metadata": (2, "*TaskMetadata"),
    },
    "ExplainStepRequest": {"session": (1, "string"), "step": (2, "string")},
    "ExplainStepResponse": {"text": (1, "string")},
    "CloseSessionRequest": {"session": (1, "string")},
    "CloseSessionResponse": {},
    # ``session``: one whose config names a cluster of its own.
    "ListDevicesRequest": {
        "device_filters": (1, "*string"),
        "timeout_in_ms": (2, "int64"),
        "session": (3, "string"),
    },
    "ListDevicesResponse": {"devices": (1, "*Device")},
    "ResetRequest": {"containers": (1, "*string"), "device_filters": (2, "*string")},
    "ResetResponse": {},
    # ---- master to worker --------------------------------------------------------------------
    "GetStatusRequest": {},
    "GetStatusResponse": {
        "task": (1, "string"),
        "devices": (2, "*Device"),
        # The ClusterDef that this task was started with.
        "cluster": (3, "bytes"),
    },
    "RegisterGraphRequest": {
        "session": (1, "string"),
        "graph": (2, "bytes"),
        "config": (3, "bytes"),
        "incarnation": (4, "fixed64"),
    },
    "RegisterGraphResponse": {"graph": (1, "string"), "incarnation": (2, "fixed64")},
    "ExplainGraphRequest": {"graph": (1, "string")},
    "ExplainGraphResponse": {"text": (1, "string")},
    "DeregisterGraphRequest": {"graphs": (1, "*string")},
    "DeregisterGraphResponse": {},
    "RunGraphRequest": {
        "graph": (1, "string"),
        "step": (2, "fixed64"),
        "values": (3, "*TensorValue"),
        "timeout_in_ms": (4, "int64"),
        "trace": (5, "int32"),
    },
    "RunGraphResponse": {"values": (1, "*TensorValue"), "metadata": (2, "bytes")},
    "CancelStepRequest": {"step": (1, "fixed64"), "failure": (2, "Failure")},
    "CancelStepResponse": {},
    "ClearContainersRequest": {"containers": (1, "*string")},
    "ClearContainersResponse": {},
    # A task's process ends well and will not come back.
    "GoodbyeRequest": {"task": (1, "string")},
    "GoodbyeResponse": {},
    # A session's config names a cluster: which task of it the server is (``definition``, a
    # ClusterDef), and when it is no longer.
    "JoinClusterRequest": {
        "cluster": (1, "string"),
        "task": (2, "string"),
        "definition": (3, "bytes"),
    },
    "JoinClusterResponse": {},
    "LeaveClusterRequest": {"cluster": (1, "string")},
    "LeaveClusterResponse": {},
    # ---- worker to worker --------------------------------------------------------------------
    # Who opens a link is told where to connect, and what to show there.
    "OpenLinkRequest": {"task": (1, "string"), "incarnation": (2, "fixed64")},
    "OpenLinkResponse": {
        "port": (1, "int32"),
        "ticket": (2, "bytes"),
        "incarnation": (3, "fixed64"),
        "local": (4, "bytes"),
    },
    # Asked of the other end from time to time: is it there, is it the same process as before, and
    # does it have a link to the one that asks?
    "CheckLinkRequest": {"task": (1, "string"), "incarnation": (2, "fixed64")},
    "CheckLinkResponse": {"incarnation": (1, "fixed64"), "linked": (2, "bool")},
    # What travels on a link.
    "LinkHeader": {
        "step": (1, "fixed64"),
        "edge": (2, "string"),
        "run": (3, "RunGraphRequest"),
        "done": (4, "RunGraphResponse"),
        "failure": (5, "Failure"),
        "call": (6, "fixed64"),
    },
}

CLASSES: dict[str, Any] = make_messages("cluster", _MESSAGES)
TensorValue: Any = CLASSES["TensorValue"]
Failure: Any = CLASSES["Failure"]
Device: Any = CLASSES["Device"]
CreateSessionRequest: Any = CLASSES["CreateSessionRequest"]
CreateSessionResponse: Any = CLASSES["CreateSessionResponse"]
ExtendSessionRequest: Any = CLASSES["ExtendSessionRequest"]
ExtendSessionResponse: Any = CLASSES["ExtendSessionResponse"]
PrepareStepRequest: Any = CLASSES["PrepareStepRequest"]
PrepareStepResponse: Any = CLASSES["PrepareStepResponse"]
TaskMetadata: Any = CLASSES["TaskMetadata"]
RunStepRequest: Any = CLASSES["RunStepRequest"]
RunStepResponse: Any = CLASSES["RunStepResponse"]
ExplainStepRequest: Any = CLASSES["ExplainStepRequest"]
ExplainStepResponse: Any = CLASSES["ExplainStepResponse"]
CloseSessionRequest: Any = CLASSES["CloseSessionRequest"]
CloseSessionResponse: Any = CLASSES["CloseSessionResponse"]
ListDevicesRequest: Any = CLASSES["ListDevicesRequest"]
ListDevicesResponse: Any = CLASSES["ListDevicesResponse"]
ResetRequest: Any = CLASSES["ResetRequest"]
ResetResponse: Any = CLASSES["ResetResponse"]
GetStatusRequest: Any = CLASSES["GetStatusRequest"]
GetStatusResponse: Any = CLASSES["GetStatusResponse"]
RegisterGraphRequest: Any = CLASSES["RegisterGraphRequest"]
RegisterGraphResponse: Any = CLASSES["RegisterGraphResponse"]
ExplainGraphRequest: Any = CLASSES["ExplainGraphRequest"]
ExplainGraphResponse: Any = CLASSES["ExplainGraphResponse"]
DeregisterGraphRequest: Any = CLASSES["DeregisterGraphRequest"]
DeregisterGraphResponse: Any = CLASSES["DeregisterGraphResponse"]
RunGraphRequest: Any = CLASSES["RunGraphRequest"]
RunGraphResponse: Any = CLASSES["RunGraphResponse"]
CancelStepRequest: Any = CLASSES["CancelStepRequest"]
CancelStepResponse: Any = CLASSES["CancelStepResponse"]
ClearContainersRequest: Any = CLASSES["ClearContainersRequest"]
ClearContainersResponse: Any = CLASSES["ClearContainersResponse"]
GoodbyeRequest: Any = CLASSES["GoodbyeRequest"]
GoodbyeResponse: Any = CLASSES["GoodbyeResponse"]
JoinClusterRequest: Any = CLASSES["JoinClusterRequest"]
JoinClusterResponse: Any = CLASSES["JoinClusterResponse"]
LeaveClusterRequest: Any = CLASSES["LeaveClusterRequest"]
LeaveClusterResponse: Any = CLASSES["LeaveClusterResponse"]
OpenLinkRequest: Any = CLASSES["OpenLinkRequest"]
OpenLinkResponse: Any = CLASSES["OpenLinkResponse"]
CheckLinkRequest: Any = CLASSES["CheckLinkRequest"]
CheckLinkResponse: Any = CLASSES["CheckLinkResponse"]
LinkHeader: Any = CLASSES["LinkHeader"]
