"""``tf.saved_model.tag_constants``: the usual tags of MetaGraphs."""

GPU = "gpu"
SERVING = "serve"
TPU = "tpu"
TRAINING = "train"
