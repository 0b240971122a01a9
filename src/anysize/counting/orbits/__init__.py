"""Orbit counts: how often every vertex occurs in every position of the connected induced patterns."""
