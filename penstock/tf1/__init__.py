"""What a program written for TensorFlow 1.x needs around it to run unchanged on Penstock."""
