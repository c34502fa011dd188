"""Work: the one room where things happen over time."""
