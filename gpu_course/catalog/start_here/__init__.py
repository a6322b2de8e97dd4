"""What lesson 00 says once a guess is made; its one puzzle is in lesson_00_start_here."""
