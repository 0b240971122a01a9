"""The structural causal model: graphons, colorings, environments, and graphs drawn from them."""
