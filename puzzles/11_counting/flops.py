"""flops: FLOP of a training step, the model's and the machine's.

    flops(config, batch, sequence, again) -> (model, machine)

config is a dict:

    layers      how many
    hidden      numbers in a token's vector
    heads       of the queries
    kv_heads    of the keys, and as many of the values
    head_size   numbers in each head; heads * head_size need not be
                hidden
    mlp         numbers inside the MLP, or inside each expert
    gated       False: an MLP has two matrices; True: three
    experts     MLPs of a layer, with a router from hidden to a score
                for each of them; 0 for one MLP and no router
    top_k       experts that each token goes through; 0 for one MLP
    vocabulary  rows of the table that gives each token its vector
    tied        True: the head is that table once more

batch     sequences in a step
sequence  tokens in each
again     what runs forward once more, when the backward pass needs it:
          "none";
          "attention": queries with keys, and weights with values;
          "layers": all products of the layers, but not the head

model is the FLOP of the products in a forward and a backward pass,
machine the FLOP of those that run. A product and an addition are two
FLOP. The backward pass of a product is two products of the same size.
Every query meets every key of its sequence, also those that a causal
mask hides afterwards. Reading a vector from a table is no product.
Biases, norms, the softmax and the optimizer are left out.

Both are whole numbers. Every number of config is 1 or more, but for
experts and top_k, and fits together with the others.
"""


def flops(config, batch, sequence, again):
    # your code here (about 14 lines)
    pass
