"""Wrong answers to kv_bytes that learners give."""


def _token(config, kv_heads=None):
    numbers = config["latent"] + config["rotary"]
    if not config["latent"]:
        numbers = 2 * (kv_heads or config["kv_heads"]) * config["head_size"]
    return config["layers"] * numbers * config["bits"] // 8


def _pages(lengths, page, shared):
    common = shared // page if lengths else 0
    needed = [-(-length // page) for length in lengths]
    empty = sum(n * page - length for n, length in zip(needed, lengths))
    return common + sum(n - common for n in needed), empty


def _both(token_bytes, lengths, page, shared):
    pages, empty = _pages(lengths, page, shared)
    return pages * page * token_bytes, empty * token_bytes


# wrong-result, heads: A head of the queries has its own keys.
def keys_for_each_query_head(config, lengths, page, shared):
    return _both(_token(config, config["heads"]), lengths, page, shared)


# wrong-result, keys-alone: Attention looks for keys.
def keeps_keys(config, lengths, page, shared):
    half = config["latent"] + config["rotary"]
    if not config["latent"]:
        half = config["kv_heads"] * config["head_size"]
    return _both(config["layers"] * half * config["bits"] // 8, lengths, page, shared)


# wrong-result, one-layer: There is one cache.
def one_layer(config, lengths, page, shared):
    return _both(_token(config) // config["layers"], lengths, page, shared)


# wrong-result, bits-as-bytes: The number of the dtype is its width.
def bits_are_bytes(config, lengths, page, shared):
    return _both(8 * _token(config), lengths, page, shared)


# wrong-result, no-latent: Keys and values are what attention needs.
def ignores_the_latent(config, lengths, page, shared):
    return _both(_token(config | {"latent": 0}), lengths, page, shared)


# wrong-result, latent-for-each-head: Each head has its vector.
def latent_for_each_head(config, lengths, page, shared):
    times = config["kv_heads"] if config["latent"] else 1
    return _both(times * _token(config), lengths, page, shared)


# wrong-result, latent-twice: One for the keys, one for the values.
def latent_for_keys_and_values(config, lengths, page, shared):
    twice = config | {"latent": 2 * config["latent"]}
    return _both(_token(twice), lengths, page, shared)


# wrong-result, no-rotary: The latent vector stands for all.
def latent_alone(config, lengths, page, shared):
    return _both(_token(config | {"rotary": 0}), lengths, page, shared)


# wrong-result, no-pages: So many tokens, so many bytes.
def tokens_without_pages(config, lengths, page, shared):
    tokens = sum(length - shared for length in lengths) + shared * bool(lengths)
    return tokens * _token(config), 0


# wrong-result, one-page-more: Length over page, and one for the rest.
def a_page_for_the_rest(config, lengths, page, shared):
    common = shared // page if lengths else 0
    needed = [length // page + 1 for length in lengths]
    empty = sum(n * page - length for n, length in zip(needed, lengths))
    pages = common + sum(n - common for n in needed)
    return pages * page * _token(config), empty * _token(config)


# wrong-result, rounded-down: Length over page is so many pages.
def only_full_pages(config, lengths, page, shared):
    common = shared // page if lengths else 0
    needed = [length // page for length in lengths]
    empty = sum(n * page - length for n, length in zip(needed, lengths))
    pages = common + sum(n - common for n in needed)
    return pages * page * _token(config), empty * _token(config)


# wrong-result, all-in-one: All tokens, then pages.
def pages_of_all_tokens(config, lengths, page, shared):
    tokens = sum(length - shared for length in lengths) + shared * bool(lengths)
    pages = -(-tokens // page)
    return pages * page * _token(config), (pages * page - tokens) * _token(config)


# wrong-result, longest: A batch is a rectangle.
def as_long_as_the_longest(config, lengths, page, shared):
    common = shared // page if lengths else 0
    most = max([-(-length // page) for length in lengths], default=0)
    pages = common + len(lengths) * (most - common)
    empty = sum(most * page - length for length in lengths)
    return pages * page * _token(config), empty * _token(config)


# wrong-result, not-shared: Each sequence has its own cache.
def nothing_is_shared(config, lengths, page, shared):
    return _both(_token(config), lengths, page, 0)


# wrong-result, shared-tokens: The shared tokens are stored once, and the others in pages.
def shares_token_by_token(config, lengths, page, shared):
    needed = [-(-(length - shared) // page) for length in lengths]
    pages = sum(needed) + (-(-shared // page) if lengths else 0)
    tokens = sum(length - shared for length in lengths) + shared * bool(lengths)
    return pages * page * _token(config), (pages * page - tokens) * _token(config)


# wrong-result, copy-missing: The page in which the beginning ends is in all sequences.
def shares_the_last_page_too(config, lengths, page, shared):
    common = -(-shared // page) if lengths else 0
    needed = [-(-length // page) for length in lengths]
    empty = sum(n * page - length for n, length in zip(needed, lengths))
    pages = common + sum(n - common for n in needed)
    return pages * page * _token(config), empty * _token(config)


# wrong-result, no-sequence: The shared pages are there from the beginning.
def shared_pages_without_a_sequence(config, lengths, page, shared):
    pages, empty = _pages(lengths, page, shared)
    pages += 0 if lengths else shared // page
    return pages * page * _token(config), empty * _token(config)


# wrong-result, swapped: The waste is what is asked for.
def the_empty_bytes_first(config, lengths, page, shared):
    return _both(_token(config), lengths, page, shared)[::-1]
