"""The words of Turnkeeper: frozen data, its JSON, and the names of what can go wrong."""
