"""Modules of the framework that TF1 programs import by path."""

from penstock.python.framework import smart_cond

__all__ = ["smart_cond"]
