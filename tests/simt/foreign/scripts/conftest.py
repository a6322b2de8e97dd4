"""The scripts here are run by tests/simt/foreign/test_script.py, each in a process of its own."""

collect_ignore_glob = ["*.py"]
