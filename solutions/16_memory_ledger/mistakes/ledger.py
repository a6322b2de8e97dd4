"""Wrong answers to ledger that people give."""

import torch


# wrong-result, views-apart: Takes views that begin in different places for different memory.
def views_by_their_beginning(layer, x):
    own = {t.untyped_storage().data_ptr() for t in [*layer.parameters(), *layer.buffers()]}
    kept = {}

    def pack(tensor):
        if tensor.untyped_storage().data_ptr() not in own:
            kept[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return sum(kept.values())


# wrong-result, shapes-apart: Two shapes look like two tensors, and a reshaped one is a view.
def a_storage_for_each_shape(layer, x):
    own = {
        tensor.untyped_storage().data_ptr() for tensor in [*layer.parameters(), *layer.buffers()]
    }
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr(), tensor.shape] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return sum(storage.nbytes() for storage in storages.values())


# wrong-result, each-save: Adds up at every call of the hook: a tensor that two operators need is
# counted twice.
def each_save_counts(layer, x):
    own = {t.untyped_storage().data_ptr() for t in [*layer.parameters(), *layer.buffers()]}
    kept = 0

    def pack(tensor):
        nonlocal kept
        if tensor.untyped_storage().data_ptr() not in own:
            kept += tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return kept


# wrong-result, view-bytes: Adds up the tensors as they look, each once by its first byte: a view
# looks smaller than what it keeps alive.
def views_as_they_look(layer, x):
    own = {t.untyped_storage().data_ptr() for t in [*layer.parameters(), *layer.buffers()]}
    kept = {}

    def pack(tensor):
        if tensor.untyped_storage().data_ptr() not in own:
            kept[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return sum(kept.values())


# wrong-result, place-used-again: Writes down where a storage lies, and lets go of it: the next
# one may lie there too.
def keeps_addresses_only(layer, x):
    own = {t.untyped_storage().data_ptr() for t in [*layer.parameters(), *layer.buffers()]}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda nothing: nothing):
        layer(x)
    return sum(kept.values())


# wrong-result, own-by-first-byte: Knows a parameter by where its numbers begin, and what was
# saved by where its storage does.
def owns_by_the_first_byte(layer, x):
    own = {t.data_ptr() for t in [*layer.parameters(), *layer.buffers()]}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return sum(storage.nbytes() for storage in storages.values())


# wrong-result, parameters: The hook sees weights too: backward needs them.
def parameters_as_well(layer, x):
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return sum(storage.nbytes() for storage in storages.values())


# wrong-result, buffers: Leaves parameters out and forgets that a module also has buffers.
def buffers_as_well(layer, x):
    own = {t.untyped_storage().data_ptr() for t in layer.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return sum(storage.nbytes() for storage in storages.values())


# wrong-result, elements: Counts numbers where bytes are asked for.
def elements_for_bytes(layer, x):
    own = {t.untyped_storage().data_ptr() for t in [*layer.parameters(), *layer.buffers()]}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes() // tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return sum(kept.values())


# wrong-result, four-bytes: Takes every number for a float32: masks, tokens and 16-bit numbers are
# not.
def four_bytes_each(layer, x):
    own = {t.untyped_storage().data_ptr() for t in [*layer.parameters(), *layer.buffers()]}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes() // tensor.element_size() * 4
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return sum(kept.values())


# wrong-result, without-batch: Takes the batch for something that is there anyway.
def without_the_batch(layer, x):
    own = {t.untyped_storage().data_ptr() for t in [*layer.parameters(), *layer.buffers(), x]}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return sum(storage.nbytes() for storage in storages.values())


# wrong-result, outputs: Counts what modules give out, not what backward needs.
def outputs_of_modules(layer, x):
    storages = {}

    def hook(module, inputs, output):
        storages[output.untyped_storage().data_ptr()] = output.untyped_storage()

    handles = [module.register_forward_hook(hook) for module in layer.modules()]
    layer(x)
    for handle in handles:
        handle.remove()
    return sum(storage.nbytes() for storage in storages.values())


# wrong-result, nothing: No graph, so nothing to save.
def runs_it_without_a_graph(layer, x):
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage
        return tensor

    with torch.no_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return sum(storage.nbytes() for storage in storages.values())


# wrong-result, wrong-type: Gives back a tensor, which is no number of bytes.
def a_tensor_for_a_number(layer, x):
    own = {t.untyped_storage().data_ptr() for t in [*layer.parameters(), *layer.buffers()]}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return torch.tensor([storage.nbytes() for storage in storages.values()]).sum()


# wrong-result, all-of-it: Adds up whatever the hook is given.
def all_that_is_saved(layer, x):
    kept = 0

    def pack(tensor):
        nonlocal kept
        kept += tensor.nbytes
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(x)
    return kept


# wrong-result, too-little: eval() for what is to be seen in training.
def in_eval_mode(layer, x):
    own = {t.untyped_storage().data_ptr() for t in [*layer.parameters(), *layer.buffers()]}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer.eval()(x)
    return sum(storage.nbytes() for storage in storages.values())


# wrong-result, too-little: Weighs the model, and not what its forward pass leaves.
def the_parameters(layer, x):
    return sum(parameter.nbytes for parameter in layer.parameters())
