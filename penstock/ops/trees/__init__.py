"""Boosted trees: an ensemble as state, statistics of examples, splits, buckets by quantiles."""
