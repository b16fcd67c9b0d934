"""Names of ``tf.contrib.slim`` that only it has (``recorded``)."""

import itertools

import numpy as np

from tests.contrib.recorded import refused, values


def _plain(array):
    """Numbers as JSON holds them, NaN as a word."""
    return [[None if np.isnan(x) else float(x) for x in row] for row in array]


def case_embedding_with_distributed_aggregation(tf):
    lookup = tf.contrib.slim.embedding_lookup_sparse_with_distributed_aggregation
    parts = [
        tf.constant(np.arange(12.0, dtype="float32").reshape(3, 4)),
        tf.constant(np.arange(8.0, dtype="float32").reshape(2, 4)),
    ]
    places = [[0, 0], [0, 1], [1, 0], [3, 2]]
    weights = tf.SparseTensor(places, [1.0, 2.0, 0.5, 3.0], [4, 3])
    found = []
    for params, ids in ((parts, [1, 3, 0, 4]), (parts[:1], [1, 2, 0, 1])):
        bags = tf.SparseTensor(places, ids, [4, 3])
        for strategy, combiner, weighted, norm in itertools.product(
            ("mod", "div"), (None, "sum", "mean", "sqrtn"), (False, True), (None, 2.0)
        ):
            made = lookup(
                params, bags, weights if weighted else None, strategy, None, combiner, norm
            )
            found.append(_plain(values(tf, made)))
    bags = tf.SparseTensor(places, [0, 0, 0, 0], [4, 3])
    found.append(tf.gradients(lookup(parts, bags, None, combiner="sum"), parts)[1] is not None)
    found.append(refused(lambda: lookup(parts, None, None), "sp_ids must be SparseTensor"))
    found.append(refused(lambda: lookup([], bags, None)))
    found.append(refused(lambda: lookup(parts, bags, None, combiner="max"), "combiner must be"))
    return found


def case_data_frame_column(tf):
    class Series:
        def required_base_features(self):
            return {"a": 1}

    series = Series()
    column = tf.contrib.slim.DataFrameColumn("age", series)
    found = [column.column_name, column.name, column.key, column.config, column.series is series]
    return found + [tuple(column) == ("age", series), len(column)]
