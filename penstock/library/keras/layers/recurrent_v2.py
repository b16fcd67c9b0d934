"""``LSTM`` and ``GRU`` with the defaults of TensorFlow 2, which canned estimators use."""

from __future__ import annotations

from typing import Any

from penstock.library.keras.layers.recurrent import GRU, LSTM


class LSTMV2(LSTM):
    """``LSTM`` whose gates are logistic by default; arguments as of it."""

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid",
        *args: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        kwargs.setdefault("implementation", 2)
        super().__init__(units, activation, recurrent_activation, *args, **kwargs)


class GRUV2(GRU):
    """``GRU`` whose gates are logistic, the reset gate after the product; arguments as of it."""

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid",
        *args: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        kwargs.setdefault("implementation", 2)
        kwargs.setdefault("reset_after", True)
        super().__init__(units, activation, recurrent_activation, *args, **kwargs)
