"""What programs return as JSON has it, and whether two such answers are the same."""

import numpy as np


def plain(value):
    """Arrays and NumPy's numbers as JSON has them."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return value.decode("latin-1") if isinstance(value, bytes) else value


def same(found, wanted, at="", rel=1e-4, abs_=1e-6):
    """Fails where two plain values differ; floats may by what rounding makes."""
    if isinstance(wanted, dict):
        assert sorted(found) == sorted(wanted), at
        for key in wanted:
            same(found[key], wanted[key], f"{at}.{key}", rel, abs_)
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), (at, found, wanted)
        for number, (one, other) in enumerate(zip(found, wanted)):
            same(one, other, f"{at}[{number}]", rel, abs_)
    elif isinstance(wanted, float) and wanted == wanted:
        assert abs(found - wanted) <= max(abs_, rel * abs(wanted)), (at, found, wanted)
    else:
        assert found == wanted or (found != found and wanted != wanted), (at, found, wanted)
