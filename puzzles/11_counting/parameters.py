"""parameters: how many a transformer has, and how many a token meets.

    parameters(config) -> (total, active), two whole numbers

config is a dict:

    layers      how many
    hidden      numbers in a token's vector
    heads       of the queries
    kv_heads    of the keys, and as many of the values
    head_size   numbers in each head, or None for hidden / heads
    mlp         numbers inside the MLP, or inside each expert
    gated       False: an MLP has two matrices, up and down;
                True: three, gate, up and down
    experts     MLPs of a layer, among which a router chooses;
                0 for one MLP and no router
    top_k       experts that each token goes through; 0 for one MLP
    vocabulary  rows of the table that gives each token its vector
    positions   rows of a learned table of positions, or 0
    tied        True: the head is the table of the tokens once more;
                False: it is a matrix of its own, as large
    qkv_bias    True: queries, keys and values have a bias
    bias        True: the attention's output and every product of an
                MLP have one, too
    norm        "layer": scale and shift; "rms": scale alone
    norms       of each layer; there is one more behind the last layer

The head and a router have no bias. A router is a product from hidden to
experts. active counts the parameters that one token goes through: top_k
experts of each layer, and all the rest as it is, the tables too.

Every number is whole. Raise ValueError where the numbers do not fit: no
layers, heads that do not divide hidden where head_size is None,
kv_heads that do not divide heads, top_k above experts, or experts of
which a token goes through none.
"""


def parameters(config):
    # your code here (about 30 lines)
    pass
