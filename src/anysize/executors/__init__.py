"""Where work runs: threads, processes, or a Ray cluster."""
