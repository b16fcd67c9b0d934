"""Graphs as files: MetaGraphs, frozen and pruned GraphDefs, graphs beyond protobuf's 2 GB."""
