"""Every method of the tables: names, capabilities, hyperparameter grids, recipes, learners."""
