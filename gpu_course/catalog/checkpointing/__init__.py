"""What lessons 17 and 18 ask: a file per puzzle. What is kept, and what is run again."""
