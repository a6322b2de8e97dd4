"""The plugin for pytest, under the name it is asked for by: `-p simt.pytest`."""

import sys

from simt.foreign import pytest_plugin

# The very module and not a copy of its names: pytest looks its hooks up by name.
sys.modules[__name__] = pytest_plugin
