"""What lesson 16 asks: a file per puzzle; lesson_16_memory_ledger puts them in order."""
