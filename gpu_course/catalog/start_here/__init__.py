"""What lesson 00 keeps back."""
