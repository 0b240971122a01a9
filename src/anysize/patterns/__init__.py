"""Connected patterns on up to 7 vertices: catalog, automorphisms, drawings."""
