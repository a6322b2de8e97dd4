"""Shows what a script finds out about itself, and ends with a status of its own."""

import sys

import sibling

print(sys.argv[1:], __name__, __file__.rpartition("scripts")[2][1:], sibling.VALUE)
sys.exit(int(sys.argv[1]))
