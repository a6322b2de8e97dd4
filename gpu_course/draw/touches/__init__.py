"""The course's signature picture: which thread touches which cell, in each of its forms."""
