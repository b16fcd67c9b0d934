"""A convolution whose arguments are checked once, for layers that apply it to several inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import convert
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn import conv, dilation, volumes


class Convolution:
    """``tf.nn.convolution`` for inputs of one shape; called with the input and the filter.

    A dilation's nodes stand in no scope of their own, and its rate is a node that is made here.

    Args:
      input_shape: dims of the inputs, None where open.
      filter_shape: dims of the filter.
      padding: "SAME" or "VALID", or a list of paddings.
      strides: one int a spatial dim.
      dilation_rate: one int a spatial dim.
      data_format: "NWC" or "NCW"; "NHWC" or "NCHW"; "NDHWC" or "NCDHW".

    Raises:
      ValueError: strides and dilations both above 1; channels that do not fit.
    """

    def __init__(
        self,
        input_shape: Any,
        filter_shape: Any,
        padding: Any,
        strides: Any,
        dilation_rate: Any,
        data_format: str,
    ) -> None:
        self._spatial = len(strides)
        self._padding, self._format = padding, data_format
        self._filter_shape = filter_shape
        self._strides, rate = dilation.strides_and_rate(self._spatial, strides, dilation_rate)
        self._rate = convert.convert_to_tensor(rate, dtypes.int32, name="dilation_rate")
        self._dilated, self._base = max(rate) > 1, None
        if self._dilated and padding == "SAME":
            self._base = dilation.same_paddings(filter_shape, np.array(rate))

    def __call__(self, input: Any, filter: Any) -> Tensor:
        """The convolved input."""

        def plain(x: Tensor, count: int, padding: Any) -> Tensor:
            if count == 1:
                return conv.conv1d(x, filter, self._strides, padding, data_format=self._format)
            if count == 2:
                return conv.conv2d(x, filter, self._strides, padding, data_format=self._format)
            last = self._format == "NDHWC"
            around = [1, *self._strides, 1] if last else [1, 1, *self._strides]
            return volumes.conv3d(x, filter, around, padding, self._format)

        if not self._dilated:
            return plain(input, self._spatial, self._padding)
        return dilation.dilated(
            input, self._rate, self._padding, plain, self._filter_shape, None, self._format,
            self._base,
        )  # fmt: skip
