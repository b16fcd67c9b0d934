"""K-means as packages name it: its constants, and that Penstock lacks its kernels."""

from __future__ import annotations

from typing import Any

CLUSTERS_VAR_NAME = "clusters"
COSINE_DISTANCE = "cosine"
SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"


class KMeans:
    """Clusters of points, moved by full or small batches; there are none yet.

    Raises:
      NotImplementedError: when one is made.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "KMeans is moved by kernels of its own (NearestNeighbors, KmeansPlusPlusInitialization,"
            " KMC2ChainInitialization), which Penstock does not have yet"
        )
