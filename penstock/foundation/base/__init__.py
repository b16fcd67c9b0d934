"""The ground floor: errors, dtypes, shapes, device names, the registry and origins of nodes.

Everything above imports these modules by name (`from penstock.foundation.base import dtypes`); they
import only the standard library, NumPy and ml_dtypes, so graph-only tools start fast (the one
function that makes a shape's message imports tensorboard inside).
"""
