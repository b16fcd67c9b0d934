"""Cutting a step into parts, one a task, that meet in ``_Send`` and ``_Recv``."""
