"""What a run leaves behind for people and programs: files, the store of results, the table."""
