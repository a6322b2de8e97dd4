"""From a kernel's text to a typed tree.

`source`: its text becomes a syntax tree, and is never executed. `legality`: what Numba would not
compile is refused, with the line. `inference`: every variable gets the type that Numba gives it.
`lower`: all of that becomes a tree of small nodes, `ir`, made once for a kernel and the types of
its arguments.
"""
