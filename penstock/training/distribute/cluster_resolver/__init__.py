"""``tf.distribute.cluster_resolver``: what tasks a cluster has, and which of them this is."""

from penstock.training.distribute.cluster_resolver.clouds import (
    GCEClusterResolver as GCEClusterResolver,
    KubernetesClusterResolver as KubernetesClusterResolver,
)
from penstock.training.distribute.cluster_resolver.resolvers import (
    ClusterResolver as ClusterResolver,
    SimpleClusterResolver as SimpleClusterResolver,
    TFConfigClusterResolver as TFConfigClusterResolver,
    UnionClusterResolver as UnionClusterResolver,
)
from penstock.training.distribute.cluster_resolver.slurm import (
    SlurmClusterResolver as SlurmClusterResolver,
)
from penstock.training.distribute.cluster_resolver.tpu import (
    TPUClusterResolver as TPUClusterResolver,
)

UnionResolver = UnionClusterResolver
