"""The version of GraphDefs that is read and written."""

from __future__ import annotations

# TensorFlow 1.15's.
GRAPH_DEF_VERSION = 134
