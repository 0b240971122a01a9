"""Training: many models as one stack, on CPU or GPU, from numpy, scipy and torch alone."""
