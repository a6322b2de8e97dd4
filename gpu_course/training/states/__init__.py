"""Smaller optimizer states and fewer parameters: GaLore, LoRA, eight bits, shared layers."""
