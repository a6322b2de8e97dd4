"""What stands between the answers of lesson 11 and the grader."""
