"""Sampled counts: unbiased estimates with standard errors."""
