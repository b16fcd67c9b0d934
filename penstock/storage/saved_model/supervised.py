"""Names in models that are exported to be trained or evaluated; ``tf.saved_model`` lacks them."""

SUPERVISED_TRAIN_METHOD_NAME = "tensorflow/supervised/training"
SUPERVISED_EVAL_METHOD_NAME = "tensorflow/supervised/eval"
# A tag of MetaGraphs.
EVAL = "eval"
