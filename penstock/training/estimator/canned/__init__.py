"""Estimators whose models are there already: linear, deep, both, and baselines."""
