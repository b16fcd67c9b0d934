"""The version of GraphDefs that is read and written."""

from __future__ import annotations

from typing import Any

# TensorFlow 1.15's.
GRAPH_DEF_VERSION = 134


def check_versions(versions: Any) -> None:
    """Refuses a graph that says it cannot be read by this version.

    Raises:
      ValueError: it does.
    """
    if versions.producer < 0:
        raise ValueError(
            f"GraphDef producer version {versions.producer} below min producer 0; regenerate the"
            " graph"
        )
    if versions.min_consumer > GRAPH_DEF_VERSION:
        raise ValueError(
            f"GraphDef min consumer version {versions.min_consumer} above current version"
            f" {GRAPH_DEF_VERSION}: it uses what came later"
        )
    if GRAPH_DEF_VERSION in versions.bad_consumers:
        raise ValueError(f"GraphDef disallows consumer version {GRAPH_DEF_VERSION}")
