"""traffic: what travels for each kernel of a chain.

    traffic(operations, sizes, keep, groups) -> list of int

    operations  list of dicts, in an order in which they can run:
                {"name": "gelu", "kind": "map", "reads": ["u"],
                 "writes": ["a"]}
    sizes       dict: name of a tensor -> its bytes
    keep        list of names: tensors that must be in memory in the end
    groups      list of lists: the numbers of the operations that become
                one kernel, kernel by kernel; each operation stands in
                one group

Return for each group the bytes that it reads from memory and writes to
it. A kernel reads each tensor that it does not make itself, once. It
writes each tensor that it makes and that another kernel reads, or that
is to be kept, once. Everything else stays in registers, and what nobody
reads and nobody keeps is never written.

The order of a group's operations is that of their numbers, whatever
the list says. Kernels may follow each other in any order that works.
"""


def traffic(operations, sizes, keep, groups):
    # your code here (about 10 lines)
    pass
