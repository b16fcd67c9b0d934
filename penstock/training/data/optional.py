"""``tf.data.experimental.Optional``: a value that may be missing, such as an iterator's next one.

State: the variant tensor, and the nesting of specs of the value.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import VariantSpec
from penstock.training.data import specs


class Optional:
    """A nesting of tensors, or nothing; which of the two is known when it runs.

    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     made = tf.data.experimental.Optional.from_value((1, 2.0))
    ...     session.run((made.has_value(), *made.get_value()))
    (np.True_, np.int32(1), np.float32(2.0))
    """

    _variant_tensor: Any
    structure: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            "Optional is made by Optional.from_value, Optional.none_from_structure and"
            " get_next_as_optional"
        )

    @classmethod
    def _of(cls, variant: Any, structure: Any) -> Optional:
        made = cls.__new__(cls)
        made._variant_tensor, made.structure = variant, structure
        return made

    @staticmethod
    def from_value(value: Any) -> Optional:
        """One that has a value, a nesting of tensors."""
        flat = specs.flatten(value)
        element = specs.pack(value, [specs.leaf(v, "Const") for v in flat])
        structure = specs.spec_of(element)
        parts = specs.to_flat(structure, element)
        return Optional._of(make("OptionalFromValue", parts, name="optional"), structure)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """One without a value, which would be of that nesting of specs."""
        return Optional._of(make("OptionalNone"), value_structure)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value, a bool scalar."""
        return make_tensor("OptionalHasValue", self._variant_tensor, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """The value; running it raises ``tf.errors.InvalidArgumentError`` where there is none."""
        flat = make(
            "OptionalGetValue", self._variant_tensor, name=name,
            output_types=specs.flat_types(self.structure),
            output_shapes=specs.flat_shapes(self.structure),
        )  # fmt: skip
        return specs.from_flat(self.structure, flat)

    @property
    def value_structure(self) -> Any:
        """Nesting of specs of the value."""
        return self.structure

    def own_spec(self) -> OptionalSpec:
        return OptionalSpec(self.structure)


class OptionalSpec(VariantSpec):
    """What an optional value is made of, as a part of an element.

    Args:
      value_structure: nesting of specs of the value.
    """

    __slots__ = ("_value_structure",)

    def __init__(self, value_structure: Any) -> None:
        super().__init__()
        self._value_structure = value_structure

    @property
    def value_type(self) -> Any:
        """The class of its values."""
        return Optional

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether an optional value or spec may have a value of this kind."""
        other = spec_or_value
        if isinstance(other, Optional):
            return specs.are_compatible(self._value_structure, other.structure)
        return isinstance(other, OptionalSpec) and (
            specs.are_compatible(self._value_structure, other._value_structure)
        )

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The spec of what may be either."""
        return OptionalSpec(
            specs.map_leaves(
                lambda a, b: a.most_specific_compatible_type(b), self._value_structure,
                other._value_structure,
            )
        )  # fmt: skip

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_structure,)

    def _from_components(self, components: Any) -> Any:
        return Optional._of(components, self._value_structure)

    def __repr__(self) -> str:
        return f"OptionalSpec({self._value_structure!r})"

    @staticmethod
    def from_value(value: Optional) -> OptionalSpec:
        """The spec of an optional value."""
        return OptionalSpec(value.structure)


OptionalStructure = OptionalSpec  # the older name


def get_next_as_optional(iterator: Any) -> Optional:
    """The next element of an iterator; no value after the last one, in place of an error."""
    structure = iterator.element_spec
    variant = make(
        "IteratorGetNextAsOptional", iterator._iterator_resource,
        output_types=specs.flat_types(structure), output_shapes=specs.flat_shapes(structure),
    )  # fmt: skip
    return Optional._of(variant, structure)
