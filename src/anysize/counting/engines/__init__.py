"""Exact counting engines and the numba kernels they share."""
