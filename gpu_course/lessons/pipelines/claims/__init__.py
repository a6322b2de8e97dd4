"""Models of pipelines, and published numbers they are held against."""
