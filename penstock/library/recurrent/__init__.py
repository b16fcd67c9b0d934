"""Recurrent networks: cells, what wraps cells, and the functions that run a cell over time.

``layer`` is what a cell is as a layer (scopes, weights), ``cell`` the base classes; then the cells
(``basic``, ``lstm``), cells made of cells (``multi``, ``wrappers``, ``projection``), one step over
sequences of several lengths (``step``), and the functions over steps: unrolled (``static``), in a
loop (``dynamic``, ``raw``), in both directions (``bidirectional``).  Variants of cells that only
``tf.contrib.rnn`` has stand there.
"""
