"""Graph-to-graph passes; ``pipeline.passes`` gives the rewrites in their one order."""
