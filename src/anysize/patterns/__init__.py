"""Connected patterns (graphlets) on up to 7 vertices: enumeration, canonical forms, automorphisms, drawings."""
