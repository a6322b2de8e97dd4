"""What happens to a cell: it is an answer file, it runs on ranks, it is held back, it fails.

`puzzle_magic` is `%%puzzle`, with another text of the answer offered by `earlier_text` below it;
`ranks_magic` is `%%ranks` and `%%rank`. `holding` decides which cells show nothing while an answer
waits for a guess, and a `held_cell` keeps what one would have shown. `cell_errors` says an error of
the course in its own words.
"""
