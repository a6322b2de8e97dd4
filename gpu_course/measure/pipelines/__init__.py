"""Pipeline schedules as data: what they are, whether they can run, and what they take."""
