"""``tf.contrib.cluster_resolver``: the classes of ``tf.distribute.cluster_resolver``."""

from penstock.foundation.base import public_names
from penstock.training.distribute.cluster_resolver import (
    ClusterResolver as ClusterResolver,
    GCEClusterResolver as GCEClusterResolver,
    KubernetesClusterResolver as KubernetesClusterResolver,
    SimpleClusterResolver as SimpleClusterResolver,
    SlurmClusterResolver as SlurmClusterResolver,
    TFConfigClusterResolver as TFConfigClusterResolver,
    TPUClusterResolver as TPUClusterResolver,
    UnionClusterResolver as UnionClusterResolver,
)

__dir__ = public_names.listing(__name__)
