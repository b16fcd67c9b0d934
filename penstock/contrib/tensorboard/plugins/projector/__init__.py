"""``tf.contrib.tensorboard.plugins.projector``: explicit re-exports, no logic."""

from penstock.summary.projector import (
    EmbeddingInfo,
    ProjectorConfig,
    SpriteMetadata,
    visualize_embeddings,
    write_embedding,
)

__all__ = [
    "EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings",
    "write_embedding",
]  # fmt: skip
