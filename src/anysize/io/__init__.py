"""Read graphs from other libraries and from files, and write them: one module per source."""
