"""Images as files and as tensors."""
