"""``tf.saved_model.simple_save``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.storage.saved_model import signature_constants, tag_constants
from penstock.storage.saved_model.builder import SavedModelBuilder
from penstock.storage.saved_model.signature_def_utils import predict_signature_def


def simple_save(
    session: Any,
    export_dir: Any,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
) -> None:
    """Writes the default graph as a SavedModel with one signature, ``serving_default``.

    Args:
      session: the session that has the variables.
      export_dir: the folder to make.
      inputs, outputs: the signature's tensors by key.
      legacy_init_op: operation to run when the model is loaded.
    """
    signature = predict_signature_def(inputs, outputs)
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        tags=[tag_constants.SERVING],
        signature_def_map={signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=scopes.get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()
