"""What a kernel's text says before it runs: what lanes share, where they stand, who can clash."""
