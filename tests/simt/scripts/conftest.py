"""The scripts here are run by tests/simt/test_module.py, each in a process of its own."""

collect_ignore_glob = ["*.py"]
