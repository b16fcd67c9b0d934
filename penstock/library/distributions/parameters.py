"""What is known of a family's parameters before there is a distribution: their shapes."""

from __future__ import annotations

from typing import Any, ClassVar

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static


class ParametersOfClass:
    """Shapes of parameters by the shape of the samples that are wanted."""

    # The parameters that have the shape of a sample, in a family of scalars.
    _elementwise: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        if not cls._elementwise:
            raise NotImplementedError("_param_shapes not implemented")
        sizes = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(cls._elementwise, sizes)

    @classmethod
    def param_shapes(
        cls, sample_shape: Any, name: str = "DistributionParamShapes"
    ) -> dict[str, Tensor]:
        """The shapes of the parameters of a distribution of which one sample has ``sample_shape``.

        Args:
          sample_shape: an int32 vector.

        Returns:
          The shape of each parameter by its name, as an int32 vector.

        Raises:
          NotImplementedError: the class does not tell.
        """
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, shapes.TensorShape]:
        """``param_shapes`` as static shapes.

        Args:
          sample_shape: a shape that is known.

        Returns:
          The ``TensorShape`` of each parameter by its name.

        Raises:
          ValueError: ``sample_shape`` is not known.
        """
        if isinstance(sample_shape, shapes.TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError(
                    f"TensorShape sample_shape must be fully defined; found {sample_shape}"
                )
            sample_shape = sample_shape.as_list()
        found = {}
        for name, sizes in cls.param_shapes(sample_shape).items():
            known = static.constant_value(sizes)
            if known is None:
                raise ValueError(
                    "sample_shape must be a fully-defined TensorShape or list/tuple; "
                    f"found {sample_shape}"
                )
            found[name] = shapes.TensorShape([int(size) for size in known])
        return found
