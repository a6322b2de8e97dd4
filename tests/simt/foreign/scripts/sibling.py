"""A module beside the scripts."""

VALUE = "found"
