"""GraphSet, the container of all graphs: flat arrays with vertex colors and labels."""
