"""What others built on TensorFlow 1, run unmodified on Penstock."""
