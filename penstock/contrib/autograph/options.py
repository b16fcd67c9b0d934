"""``ConversionOptions``: what a caller of ``converted_call`` says about a conversion."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from penstock.library.autograph.public import Feature


class ConversionOptions:
    """How a function is to be converted; ``tf.contrib.autograph.converted_call`` takes it.

    Args:
      recursive: whether the functions that it calls are converted, too.
      user_requested: whether the user asked for it, so that an exemption does not hold.
      internal_convert_user_code: whether those that it calls are looked into at all.
      optional_features: a ``Feature``, several, or None.

    Example:
      >>> import penstock as tf
      >>> package = tf.contrib.autograph
      >>> options = package.ConversionOptions(optional_features=package.Feature.LISTS)
      >>> options.uses(package.Feature.LISTS), options.uses(package.Feature.NAME_SCOPES)
      (True, False)
    """

    def __init__(
        self, recursive: bool = False, user_requested: bool = False,
        internal_convert_user_code: bool = True, optional_features: Any = Feature.ALL,
    ) -> None:  # fmt: skip
        self.recursive = recursive
        self.user_requested = user_requested
        self.internal_convert_user_code = internal_convert_user_code
        given: Any = optional_features or ()
        several = given if isinstance(given, Iterable) else (given,)
        self.optional_features = frozenset(several)

    def as_tuple(self) -> tuple[Any, ...]:
        """The four arguments."""
        return (
            self.recursive, self.user_requested, self.internal_convert_user_code,
            self.optional_features,
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash(self.as_tuple())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConversionOptions) and self.as_tuple() == other.as_tuple()

    def __str__(self) -> str:
        return f"{type(self).__name__}[{str(self.as_tuple())[1:-1]}]"

    def uses(self, feature: Feature) -> bool:
        """Whether an optional feature is on."""
        return Feature.ALL in self.optional_features or feature in self.optional_features

    def call_options(self) -> ConversionOptions:
        """The options of the functions that are called."""
        return ConversionOptions(
            recursive=self.recursive, internal_convert_user_code=self.recursive,
            optional_features=self.optional_features,
        )  # fmt: skip

    def to_ast(self) -> ast.expr:
        """The expression that makes these options, where ``ag__`` is this package."""
        features = ", ".join(
            f"ag__.Feature.{each.name}" for each in sorted(self.optional_features, key=str)
        )
        text = (
            f"ag__.ConversionOptions(recursive={self.recursive},"
            f" user_requested={self.user_requested},"
            f" internal_convert_user_code={self.internal_convert_user_code},"
            f" optional_features=({features}{',' if features else ''}))"
        )
        return ast.parse(text, mode="eval").body
