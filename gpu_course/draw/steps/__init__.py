"""One step of a recorded launch: its picture, the panels it is made of, and the same in words."""
