"""Graph-to-graph passes; ``pipeline.PASSES`` is the one ordered list of them."""
