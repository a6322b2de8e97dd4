"""Lesson 13: From softmax to FlashAttention."""
