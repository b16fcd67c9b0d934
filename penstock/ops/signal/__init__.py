"""Fourier transforms and sound."""
