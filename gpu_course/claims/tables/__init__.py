"""The numbers of papers as printed, a TOML file each; in modules the models that compute them."""
