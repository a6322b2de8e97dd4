"""Models of whole runs, and published numbers they are held against."""
