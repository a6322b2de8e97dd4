"""Models of zero bubble pipelines, and published numbers they are held against."""
