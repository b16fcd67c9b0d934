"""Networks as programs of 2016 to 2019 make them, built by Penstock and by TensorFlow 1.15."""
