"""``ServerDef``, which the ``tensorboard`` package lacks: a cluster, and which task of it.

Source: field names and numbers of TensorFlow's tensorflow_server.proto.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import cluster_pb2, config_pb2

from penstock.foundation.formats.message_table import Rows, make_messages

_MESSAGES: dict[str, Rows] = {
    "ServerDef": {
        "cluster": (1, "tensorboard.ClusterDef"),
        "job_name": (2, "string"),
        "task_index": (3, "int32"),
        "default_session_config": (4, "tensorboard.ConfigProto"),
        "protocol": (5, "string"),
    },
}

ServerDef: Any = make_messages("server_def", _MESSAGES, imported=(cluster_pb2, config_pb2))[
    "ServerDef"
]
