"""The lessons, a room each: what only one lesson asks, shows, counts or claims."""
