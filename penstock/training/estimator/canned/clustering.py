"""K-means: clusters of points, by full or small batches."""

CLUSTERS_VAR_NAME = "clusters"
COSINE_DISTANCE = "cosine"
SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"
