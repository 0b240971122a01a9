"""Learning tasks: data sets with training, validation and test splits."""
