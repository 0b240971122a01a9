"""Message passing on merged rows: vertices that a layer cannot tell apart are computed once."""
