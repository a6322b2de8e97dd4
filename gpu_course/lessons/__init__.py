"""What one lesson shows, or two that belong together: each module is called from its cells."""
