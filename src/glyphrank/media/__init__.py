"""Media: files as published, opened within one process and one lock where the library asks for it."""
