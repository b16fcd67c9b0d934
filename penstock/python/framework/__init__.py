"""Modules of the framework that TF1 programs import by path."""

from penstock.python.framework import function, smart_cond

__all__ = ["function", "smart_cond"]
