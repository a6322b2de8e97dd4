"""Pictures of training runs on one machine: memory over time, schedules, losses."""
