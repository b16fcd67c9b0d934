"""Constants whose values lie in a file beside their GraphDef.

A node's ``_external_value`` attr is ``BUNDLE:START``: the value is in that checkpoint bundle, under
START followed by the node's name.  In a file BUNDLE is relative to the file's folder, in memory it
is a whole path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.foundation.formats import inside
from penstock.foundation.formats.bundle import BundleReader

if TYPE_CHECKING:
    from penstock.foundation.formats.bundle import BundleReader

ATTR = "_external_value"

# The bundles that lie beside graphs that were read; a graph's own word for a path is no reason to
# read what is there.
_allowed: set[str] = set()


def allow(prefix: str) -> None:
    """Says that a bundle lies beside a graph that the user has read."""
    _allowed.add(prefix)


class ExternalValues:
    """The values of one graph that is being imported; every bundle is opened once."""

    def __init__(self) -> None:
        self._readers: dict[str, BundleReader] = {}

    def load(self, where: Any, node_name: str) -> np.ndarray:
        """The value of the node called ``node_name``, whose attr is ``where``."""
        text = where.decode() if isinstance(where, bytes) else str(where)
        prefix, _, start = text.rpartition(":")
        if prefix not in _allowed and not inside.outside_allowed():
            raise ValueError(
                f"the value of node {node_name!r} is in {prefix!r}, which is not beside a graph"
                f" file that was read here; read the file itself, or set {inside.VARIABLE}=1"
            )
        if prefix not in self._readers:
            self._readers[prefix] = BundleReader(prefix)
        return self._readers[prefix].read(start + node_name)
