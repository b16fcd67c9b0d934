"""What a tensor is to Python where its value is known: a truth, a number, rows, an array."""

from __future__ import annotations

from typing import Any

import numpy as np


class KnownValue:
    """For classes whose ``numpy()`` gives the value."""

    __slots__ = ()

    def numpy(self) -> Any:
        """The value: an array, or a NumPy scalar."""
        raise NotImplementedError

    def __bool__(self) -> bool:
        return bool(self.numpy())

    __nonzero__ = __bool__

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __index__(self) -> int:
        index: int = self.numpy().__index__()
        return index

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.asarray(self.numpy()).__array__(*args, **kwargs)
