"""Whole models written as TensorFlow 1.x programs are, with the public names of Penstock alone.

Each module is a program with a command (``python -m penstock.models.language_model --help``), and
its tests show that it learns.
"""
