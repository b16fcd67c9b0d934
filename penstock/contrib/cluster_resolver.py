"""``tf.contrib.cluster_resolver``: the classes of ``tf.distribute.cluster_resolver``."""

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
