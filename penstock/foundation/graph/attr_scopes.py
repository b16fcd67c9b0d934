"""Blocks whose nodes get attrs: containers, other gradients, labels of kernels, and so on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from penstock.foundation.base.decorators import contextmanager
from penstock.foundation.graph.operation import Operation


class AttrScopes:
    """The blocks that give nodes attrs; a base class of ``Scoping``."""

    if TYPE_CHECKING:

        @property
        def scopes(self) -> Any:
            """``Graph``'s."""

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Stateful nodes made inside keep their state in the named resource container."""
        saved = self.scopes.container
        self.scopes.container = container_name
        try:
            yield container_name
        finally:
            self.scopes.container = saved

    @contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Nodes made inside use the gradients registered under the mapped names."""
        for key, value in op_type_map.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError(f"op_type_map maps str to str; found {key!r}: {value!r}")
        saved = self.scopes.gradient_overrides
        self.scopes.gradient_overrides = {**saved, **op_type_map}
        try:
            yield
        finally:
            self.scopes.gradient_overrides = saved

    @contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        """Nodes made inside carry the label of their op type as the attr ``_kernel``.

        There is one kernel for each op here, so the label is for other readers of the graph.
        """
        for key, value in op_to_kernel_label_map.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError(
                    "op_to_kernel_label_map must be a dictionary mapping strings to strings; found"
                    f" {key!r}: {value!r}"
                )
        saved = self.scopes.kernel_labels
        self.scopes.kernel_labels = {**saved, **op_to_kernel_label_map}
        try:
            yield
        finally:
            self.scopes.kernel_labels = saved

    @contextmanager
    def _original_op(self, op: Operation) -> Iterator[None]:
        """Nodes made inside have ``op`` as their ``_original_op``: they are made because of it."""
        saved = self.scopes.original_op
        self.scopes.original_op = op
        try:
            yield
        finally:
            self.scopes.original_op = saved

    @contextmanager
    def _attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        saved = self.scopes.attrs
        merged = {**saved, **attr_map}
        self.scopes.attrs = {k: v for k, v in merged.items() if v is not None}
        try:
            yield
        finally:
            self.scopes.attrs = saved
