"""The commands of `anysize paper`."""
