"""What the example programs of TensorFlow 0.x and 1.x were made of, and other programs imported.

They lay inside the package (``tensorflow.models.rnn.ptb.reader``), so programs built on their
readers and networks. Here are these parts, written from their documented behaviour; the programs
themselves are in ``penstock.models``. Data come from local files.
"""
