"""Many processes and what they send each other: `runner` starts them, `wire` counts their calls."""
