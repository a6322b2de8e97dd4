"""What lesson 31 holds published numbers against."""
