"""The structural causal model: graphons, vertex colors, environments and samples drawn from them."""
