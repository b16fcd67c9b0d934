"""Benchmarks: the same steps in Penstock and in its peers, interleaved in one run.

Run ``python -m benchmarks`` (or ``make bench``); ``README.md`` in this folder says how to read
the results. Modules that workers import (``program``, ``data``, ``worker``, ``*_cases``) keep to
Python 3.7, because TensorFlow 1.15 needs it.
"""
