"""From a step's graph to Python source: lower to a Plan, decide memory, emit a Program."""
