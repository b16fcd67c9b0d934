"""A version of a model in memory: its session and signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.cluster.serving.signature import Batching, Signature
from penstock.engine.session.session import Session
from penstock.foundation.base import errors
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.saved_model.loader import SavedModelLoader
from penstock.storage.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from penstock.storage.saved_model.tensor_info import get_tensor_from_tensor_info

TAG = "serve"


class Servable:
    """A loaded SavedModel.

    Args:
      folder: of the SavedModel.
      name: of its model.
      version: its number.
      batching: how calls of a signature are gathered.
      observe: is told the rows of each batch.

    Raises:
      OSError, RuntimeError, ValueError, tf.errors.OpError: it cannot be loaded.
    """

    def __init__(
        self,
        folder: str,
        name: str,
        version: int,
        batching: Batching,
        observe: Callable[[int], None] = lambda rows: None,
    ) -> None:
        self.folder, self.name, self.version = folder, name, version
        graph = Graph()
        self._session = Session(graph=graph)
        try:
            self.meta_graph = SavedModelLoader(folder).load(self._session, [TAG])
            with graph.as_default():
                self.signatures = {
                    key: self._signature(key, definition, graph, batching, observe)
                    for key, definition in sorted(self.meta_graph.signature_def.items())
                    if not key.startswith("__")  # those name what is run while loading
                }
        except BaseException:
            self._session.close()
            raise

    def _signature(
        self, key: str, definition: Any, graph: Graph, batching: Batching, observe: Any
    ) -> Signature:
        sides: list[dict[str, Tensor]] = []
        for infos in (definition.inputs, definition.outputs):
            found = {n: get_tensor_from_tensor_info(i, graph) for n, i in sorted(infos.items())}
            composite = [n for n, tensor in found.items() if not isinstance(tensor, Tensor)]
            if composite:
                raise errors.UnimplementedError(
                    None, None,
                    f"signature {key!r} of {self.folder}: {composite[0]!r} is a sparse tensor;"
                    " only dense ones can be served",
                )  # fmt: skip
            sides.append(found)
        inputs, outputs = sides
        return Signature(
            key, definition.method_name, inputs, outputs, self._session, batching, observe
        )

    def signature(self, name: str = "") -> Signature:
        """A signature by name; without one the default.

        Raises:
          tf.errors.FailedPreconditionError: the model has no such signature.
        """
        key = name or DEFAULT_SERVING_SIGNATURE_DEF_KEY
        if key not in self.signatures:
            raise errors.FailedPreconditionError(
                None, None,
                f'Serving signature key "{key}" not found; {self.name} version {self.version} has'
                f" {', '.join(self.signatures) or 'none'}",
            )  # fmt: skip
        return self.signatures[key]

    def close(self) -> None:
        """Lets go of the session and its variables."""
        self._session.close()
