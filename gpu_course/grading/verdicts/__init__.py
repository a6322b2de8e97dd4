"""What a verdict is, and how it is told: facts first, then words, then what shows them.

`facts` has what a verdict holds, and `verdict` is it, which shows itself. `sections` are what it is
made of, and `messages` the sections that every kind of answer needs. `onward` says where a pass
leads. `exports` makes text, JSON, tables and HTML of it, and `pictures` draws what it speaks of.
"""
