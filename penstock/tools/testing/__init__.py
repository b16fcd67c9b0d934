"""``tf.test``: test cases with sessions and arrays, checks of gradients and graphs, benchmarks."""
