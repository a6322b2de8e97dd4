"""kv_bytes: what the cache of keys and values takes.

    kv_bytes(config, lengths, page, shared) -> (int, int)

    config   dict of whole numbers: "layers"; "heads" of the queries;
             "kv_heads" of keys and values, each of which serves
             heads / kv_heads of the queries; "head_size", numbers in a
             head; "bits" of each number; "latent" and "rotary": where
             latent is not 0, a layer keeps one vector of latent
             numbers for a token, from which it makes the keys and
             values of all heads anew, and rotary numbers of a key that
             all heads share
    lengths  list: the tokens of each sequence
    page     how many tokens a page has room for
    shared   how many tokens at the beginning are the same in all
             sequences

The cache comes in pages. A page has room for `page` tokens, with all
that the layers keep of them. It belongs to one sequence. Only a page
that holds nothing but shared tokens is there once for all sequences.
Pages are used whole, so the last page of a sequence may have empty
places.

Return the bytes of all pages, and how many of these bytes are in empty
places. Nothing is rounded: what is kept of a token is a whole number
of bytes. No length is less than shared. A sequence may have no tokens,
and there may be no sequence.
"""


def kv_bytes(config, lengths, page, shared):
    # answer
    numbers = config["latent"] + config["rotary"]
    if not config["latent"]:
        numbers = 2 * config["kv_heads"] * config["head_size"]
    token_bytes = config["layers"] * numbers * config["bits"] // 8
    common = shared // page if lengths else 0
    pages, empty = common, 0
    for length in lengths:
        needed = -(-length // page)
        pages += needed - common
        empty += needed * page - length
    return pages * page * token_bytes, empty * token_bytes
    # end answer
