"""``tf.contrib.tensorboard.plugins.projector``: explicit re-exports, no logic."""

from penstock.storage.summary.projector import (
    EmbeddingInfo as EmbeddingInfo,
    ProjectorConfig as ProjectorConfig,
    SpriteMetadata as SpriteMetadata,
    visualize_embeddings as visualize_embeddings,
    write_embedding as write_embedding,
)

# The description of the file that the messages are of, as modules of messages have it.
DESCRIPTOR = ProjectorConfig.DESCRIPTOR.file
