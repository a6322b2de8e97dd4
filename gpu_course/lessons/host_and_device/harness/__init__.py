"""What runs answers of lesson 08."""
