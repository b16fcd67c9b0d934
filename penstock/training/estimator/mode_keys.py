"""``tf.estimator.ModeKeys``: what a model function is called for."""


class ModeKeys:
    """What a ``model_fn`` is called for: training, evaluation, or prediction."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
