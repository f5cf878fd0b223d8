"""glyphrank: retrieval experiments where text must be read."""

__version__ = "0.1.0"
