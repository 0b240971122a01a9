"""Neural networks: representations of graphs that do not depend on size, and GNNs on whole graphs as baselines."""
