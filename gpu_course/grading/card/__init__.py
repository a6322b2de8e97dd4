"""What a real card, or its compiler, makes of an answer that the simulator has judged.

`bench` times answers on this machine's GPU, on data made `large`, beside what `library` calls, and
`targets` says what they should reach. `compiled` is what NVIDIA's compiler makes of a kernel, which
needs no GPU, and `compiled_text` shows it.
"""
