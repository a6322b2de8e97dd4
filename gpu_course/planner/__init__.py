"""Cost models of training runs, and the published numbers they are held against."""
