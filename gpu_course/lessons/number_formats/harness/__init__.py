"""What runs answers to lesson 15 that need more than a call."""
