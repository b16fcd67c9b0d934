"""What a graph costs: parameters, float operations, time and memory by several views."""
