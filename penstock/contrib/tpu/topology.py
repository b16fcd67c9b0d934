"""Where the cores of TPUs are: there are none here, and what asks is told so."""

from __future__ import annotations

from typing import Any


class Topology:
    """The coordinates of the cores of a TPU system; there is none to be made.

    Args:
      serialized, mesh_shape, device_coordinates: as TensorFlow has them.

    Raises:
      NotImplementedError: always.
    """

    def __init__(
        self, serialized: Any = None, mesh_shape: Any = None, device_coordinates: Any = None
    ) -> None:
        raise NotImplementedError(
            "Penstock runs on CPUs and GPUs: there is no TPU system whose topology could be known"
        )
