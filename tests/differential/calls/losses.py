"""Losses, metrics, decays of learning rates."""

from __future__ import annotations

from tests.differential.args import IDS, I, K, M, O, P, R, S, X, call, each

BY = O("weighted_sum_by_nonzero_weights", "none", "weighted_sum", "weighted_mean",
       "weighted_sum_over_batch_size", "x")  # fmt: skip
WEIGHTS = M(P(3, 4))
TARGETS = I([[1], [0], [3]], "int64")
ZERO_ONE = X([1.0, 0.0, 1.0, 0.0])

CALLS = [
    *each(
        "losses.absolute_difference losses.mean_squared_error losses.hinge_loss"
        " losses.huber_loss losses.log_loss"
        " losses.sigmoid_cross_entropy losses.softmax_cross_entropy",
        P(3, 4),
        P(3, 4),
        weights=WEIGHTS,
        reduction=BY,
    ),
    call(
        "losses.cosine_distance", P(3, 4), P(3, 4), O(1, 0, -1, 2), weights=M(P(3, 1)), reduction=BY
    ),
    call("losses.mean_pairwise_squared_error", P(3, 4), P(3, 4), weights=M(P(3, 1))),
    call(
        "losses.sparse_softmax_cross_entropy", I([0, 3, 1]), R(3, 4), weights=M(P(3)), reduction=BY
    ),
    call("losses.compute_weighted_loss", P(3, 4), weights=WEIGHTS, reduction=BY),
    *each(
        "metrics.accuracy metrics.mean_absolute_error metrics.mean_squared_error"
        " metrics.root_mean_squared_error metrics.true_positives metrics.true_negatives"
        " metrics.false_positives metrics.false_negatives metrics.precision metrics.recall",
        ZERO_ONE,
        ZERO_ONE,
        M(P(4)),
    ),
    call("metrics.auc", ZERO_ONE, P(4), M(P(4)), O(5, 200, 2), curve=O("ROC", "PR", "x")),
    call("metrics.mean", R(2, 3), M(P(2, 3))),
    call("metrics.mean_tensor", R(2, 3), M(P(2, 3))),
    call("metrics.mean_cosine_distance", P(3, 4), P(3, 4), O(1, 0, -1)),
    call("metrics.mean_relative_error", P(4), P(4), P(4)),
    call("metrics.percentage_below", R(4), R(), M(P(4))),
    *each(
        "metrics.mean_iou metrics.mean_per_class_accuracy",
        K(I([0, 1, 2, 1])),
        K(I([0, 2, 2, 1])),
        O(3, 2, 4),
        M(K(P(4))),
    ),
    *each(
        "metrics.precision_at_k metrics.recall_at_k metrics.average_precision_at_k",
        TARGETS,
        R(3, 4),
        O(2, 1, 0, 5),
    ),
    *each(
        "metrics.precision_at_thresholds metrics.recall_at_thresholds"
        " metrics.true_positives_at_thresholds"
        " metrics.true_negatives_at_thresholds metrics.false_positives_at_thresholds"
        " metrics.false_negatives_at_thresholds",
        ZERO_ONE,
        P(4),
        O([0.2, 0.5], [], [1.5, -0.5]),
        M(P(4)),
    ),
    *each(
        "metrics.sensitivity_at_specificity metrics.specificity_at_sensitivity",
        ZERO_ONE,
        P(4),
        O(0.5, 0.0, 1.5),
        M(P(4)),
        O(5, 200),
    ),
    *each(
        "train.exponential_decay train.inverse_time_decay train.natural_exp_decay",
        P(),
        S(3),
        S(10),
        P(),
        O(False, True),
    ),
    call("train.cosine_decay", P(), S(3), S(10), O(0.0, 0.5)),
    call("train.cosine_decay_restarts", P(), S(3), S(10), O(2.0, 1.0), O(1.0, 0.5)),
    call("train.linear_cosine_decay", P(), S(3), S(10), O(0.5, 2)),
    call("train.polynomial_decay", P(), S(3), S(10), O(0.0001, 0.0), O(1.0, 2.0), O(False, True)),
    call(
        "train.piecewise_constant",
        S(3),
        O([1, 5], [2.0, 4.0], []),
        O([0.1, 0.2, 0.3], [1, 2, 3], [1.0]),
    ),
    call("losses.get_total_loss", O(True, False)),
    call(
        "nn.ctc_loss",
        IDS(2, 3, top=4, dtype="int32"),
        R(6, 2, 5),
        I([6, 5]),
        preprocess_collapse_repeated=O(False, True),
        ctc_merge_repeated=O(True, False),
        ignore_longer_outputs_than_inputs=O(False, True),
        time_major=O(True, False),
    ),
]
