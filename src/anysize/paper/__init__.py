"""The publication: its tasks, its tables beside the published numbers, its theory. The library does not import it."""
