"""What each diagnosis says when a puzzle has no sentence of its own for it."""

from __future__ import annotations

from gpu_course.puzzle import Puzzle, PythonPuzzle

OUT_OF_STEPS = (
    "Does the loop end at all? If not, look at its condition: what in it changes from one round to "
    "the next? If it does, a thread does too much: which part of the work is for this thread?"
)
"""Of a launch whose steps were used up, where nothing says that it would never have ended."""

IN_ITS_OWN = (
    "Other threads have stored something in this place, each in an array of its own: what "
    "cuda.local.array makes, no two threads share. Which kind of array does a block share?"
)
"""Of a local array that is read where others have written in theirs."""

SENTENCES: dict[str, str] = {
    "unwritten": (
        "Nothing wrote to the output. Look at the left side of your assignments: is the output "
        "on one of them, and does any thread get that far?"
    ),
    "rebound": (
        "That line makes the name stand for a number of this thread alone, and the array stays as "
        "it was. Which cell of the array should the number go into?"
    ),
    "block-unwritten": (
        "Whole blocks of threads left their cells untouched. Look at the index and at the "
        "condition: how does each of them use the number of the block?"
    ),
    "tail-unwritten": (
        "The last cells were never written. Which thread should have written the first of them, "
        "does every condition let that thread through, and does its loop, if it has one, get there?"
    ),
    "tail-wrong": (
        "All cells before them are right. Look at the last threads: what is different about their "
        "indices, or about the cells they read?"
    ),
    "only-first-block-right": (
        "Block 0 is right and the others are not. Something that should depend on the block "
        "depends on the place within the block alone."
    ),
    "shifted": (
        "The values themselves are right. Compare the index you read at with the index you write "
        "at."
    ),
    "transposed": (
        "The values are right, but rows and columns are exchanged. Look at which index comes "
        "first, both where you read and where you write."
    ),
    "reversed": (
        "The values are right, but in reverse order. Look at which end your index counts from."
    ),
    "copied-input": ("The values arrive, but nothing was computed with them."),
    "constant-offset": ("The indices are right; look at what is added or taken away."),
    "constant-factor": (
        "The indices are right; look at what is multiplied, or how often something is added."
    ),
    "partly-wrong": (
        "Write down the indices of the wrong ones: what do they have in common, and what sets the "
        "right ones apart?"
    ),
    "wrong": (
        "No cell is right. Take the first one and work out by hand what its thread reads and "
        "computes."
    ),
    "out-of-bounds": "A thread reached past the end of an array. Which threads have a cell at all?",
    "race": (
        "Two threads met at one cell with nothing to order them. Which cells belong to this "
        "thread, and which to others?"
    ),
    "barrier-divergence": (
        "A barrier is for every thread of the block. Move it to a place that all of them reach."
    ),
    "uninitialised-read": "Something was read before anything was stored there.",
    "inactive-lane": "A warp operation asked for the value of a lane that does not take part.",
    "illegal-launch": "The launch asks for more than a GPU can give.",
    "endless-loop": (
        "The kernel does not end. Look at the loop's condition: what in it changes from one round "
        "to the next?"
    ),
    "waits-for-a-block-outside": (
        "A block waits for one that has not started, and this one can only start when a block has "
        "ended. A GPU starts blocks in no promised order: which blocks has this one a right to "
        "wait for?"
    ),
    "no-fence-after": (
        "Handing a value on takes two fences. The first one, between the value and the atomic that "
        "announces it, is there. A thread that has seen the announcement may still read an older "
        "value that its own multiprocessor has kept. What stands between seeing and reading?"
    ),
    "misaligned": "An access has to start at a multiple of its own size.",
    "refused": "A kernel can use only a part of Python: numbers, arrays, loops and conditions.",
    "missing-function": "The grader calls the function by its name, so the name has to match.",
    "input-changed": (
        "An input is not what it was before the launch. Read from the inputs, write to the outputs."
    ),
    "order-dependent": (
        "The result changes with the order in which blocks and atomics run, and a GPU promises "
        "none. Look for the step whose result depends on who comes first."
    ),
    "not-a-number": (
        "NaN and infinity spoil what they touch: times 0 they are NaN, and so is infinity less "
        "infinity. Which number came into this cell and has no business there?"
    ),
    "made-nan": (
        "No input holds a NaN or an infinity, and this cell is NaN. Infinity less infinity gives "
        "one, so do 0 times infinity and 0 / 0, and a cell of an output that nothing has written "
        "yet holds no number. Which line brings it in?"
    ),
    "unusual-numbers": (
        "There are NaN or infinities among these numbers. What comes of them in your comparisons, "
        "products and sums, and what does the statement ask for?"
    ),
    "other-bits": (
        "Two launches over the same numbers give different bits, and both are to give the same. "
        "What in the way the numbers are added up depends on the launch?"
    ),
    "over-budget": "The result is right; the way to it costs more than it needs to.",
    "not-shared": (
        "A launch takes as long as its busiest thread, and a GPU is fast because thousands of "
        "threads each do a little. Which part of the work is for this thread?"
    ),
    "done-again": (
        "Here most threads go over the same cells, and the same work is done many times. Which "
        "cells does one thread need for its own result?"
    ),
}
"""Diagnosis key -> what to tell a learner when the puzzle has no sentence of its own."""

PYTHON_SENTENCES: dict[str, str] = {
    "missing-output": (
        "A function that ends without `return` gives None. Does every way through yours reach one?"
    ),
    "missing-name": (
        "What you returned has not all the names that it should have. Which one does your code "
        "never put in?"
    ),
    "wrong-type": (
        "The value has a different type from the one the puzzle asks for. The file's docstring "
        "says what to return."
    ),
    "wrong-shape": (
        "The result has a different shape from the one the puzzle asks for. Look at which axis is "
        "summed, stacked or kept, and whether anything was left out."
    ),
    "rounded": "Return it with all the digits that it has.",
    "left-as-set": (
        "No later line puts anything else into it. Which one should, and does it name another "
        "variable, or print what it finds?"
    ),
    "same-every-time": (
        "Your function uses none of what it is given, so it returns the same every time. Which of "
        "its inputs does the result depend on?"
    ),
    "wrong-dtype": (
        "The numbers have a different dtype from the one the puzzle asks for. Look at the first "
        "operation that mixes two dtypes."
    ),
    "not-finite": (
        "There is an infinity or a NaN where a number is expected. Look for a division by zero, a "
        "logarithm of zero, a root of less than zero, or an exponential that grows too large."
    ),
    "other-order": (
        "All of it is right, and stands in another order. What comes first in the docstring?"
    ),
    "off-by-one": (
        "Look at where you begin to count, at the rounding, and at what is left over at the end."
    ),
    "constant-offset": ("Look at what is added once too often, or not at all."),
    "constant-factor": ("Look at the units, and at what is counted twice or left out."),
    "partly-wrong": ("What do the wrong ones have in common, and what sets the right ones apart?"),
    "wrong": (
        "Work this case out by hand, step by step, and print what your function has at each step."
    ),
    "exception": (
        "Your code raised an error. The line above is where it happened; print the values in it."
    ),
    "crash": (
        "The process that ran your answer has ended. An answer returns its result and must not "
        "end its process."
    ),
    "deadline": (
        "Your code did not end in time. Look for a loop whose condition never changes, or for "
        "work that grows much faster than the input."
    ),
    "memory": (
        "Look for a list that never stops growing, or for an array that is larger than it needs "
        "to be."
    ),
    "input-changed": (
        "An input is not what it was before the call. Copy what you want to change: whoever "
        "called your function may still need it."
    ),
    "missing-function": "The grader calls the function by its name, so the name has to match.",
    "refused": "Python stops at this line before anything runs.",
    "over-budget": "The result is right; the way to it costs more than it needs to.",
    "standstill": (
        "Each rank waits for another, so none goes on. Follow two neighbours line by line: which "
        "call of one does each call of the other wait for?"
    ),
    "left-early": (
        "A rank has finished, and another still waits for it. Does the one leave too early, or "
        "does the other make a call too many?"
    ),
    "nothing-sent": (
        "No rank sent anything, so each knows its own numbers alone. What do the others hold?"
    ),
    "calls-differ": (
        "All ranks of a group have to make the same collectives in the same order. Which condition "
        "sends them different ways?"
    ),
    "sizes-differ": (
        "What one rank sends is not of the size that the other is ready for. Do both mean the same "
        "piece?"
    ),
    "roots-differ": (
        "Every rank of a group has to name the same root. Without group= these are all ranks: who "
        "is meant to take part?"
    ),
    "dtypes-differ": (
        "The bytes that arrive are read as the dtype of the tensor that takes them, whatever they "
        "were when they left. Which of the two tensors has a dtype you did not choose?"
    ),
    "ops-differ": (
        "Each rank would combine the numbers in its own way, so their results could all differ. "
        "Which op does the sum, or the maximum, that you want ask for?"
    ),
    "groups-crossed": (
        "These groups share ranks, and one rank calls their collectives in another order than the "
        "other. Which order can all of them keep?"
    ),
    "new-group": (
        "All ranks call new_group for each group in the same order, those that are not in it too. "
        "Which rank leaves one out?"
    ),
    "sends-to-itself": (
        "A message needs two ranks. With one rank there is nobody to send to, and with more of "
        "them a rank has its own numbers already."
    ),
    "not-waited": (
        "isend, irecv and collectives with async_op=True return at once, and the data may still be "
        "on its way. Until wait() has returned, a received tensor holds anything, and a sent one "
        "must not change."
    ),
    "library-collective": (
        "The puzzle asks for the collective by hand: with send and recv, isend and irecv, or "
        "batch_isend_irecv."
    ),
    "group-ended": (
        "The group was there before your function was called, and who started it ends it. Leave "
        "init_process_group and destroy_process_group to the runner."
    ),
    "group-of-its-own": (
        "Leave `backend` out: new_group then makes a group over what the runner gave, whose calls "
        "are recorded and counted."
    ),
    "wire-disagrees": (
        "The calls that your ranks recorded are not what the operating system counted on the "
        "network. Use torch.distributed as it is, and no other way between the ranks."
    ),
}
"""The same for puzzles whose answer is ordinary Python."""

ON_RANKS = {
    "missing-output": (
        f"{PYTHON_SENTENCES['missing-output']} dist.all_reduce and others that change what they "
        "get give None, too."
    ),
}
"""What is said otherwise of an answer on ranks."""


CLOSER: dict[str, str] = {
    "none-expected": (
        "Here the puzzle asks for None. In which cases does it, and what does your code do in them?"
    ),
    "float-for-int": (
        "A whole number is asked for. A division by / gives a float, one by // a whole number; and "
        "a sum that begins with 0.0 stays a float."
    ),
    "text-for-number": "What stands in quotes is text, also if it looks like a number.",
    "wrapped": "One value is asked for. A comma behind it, or brackets round it, make a row of it.",
    "one-for-several": (
        "Several values are asked for. Return them all, with commas between them, in the order "
        "of the docstring."
    ),
    "should-refuse": (
        "The puzzle asks for a ValueError here. Which inputs does the docstring say are to be "
        "refused?"
    ),
    "should-not-refuse": (
        "A ValueError came out of your code for inputs that are to be worked with. Which of your "
        "conditions lets it out?"
    ),
    "other-sign": "Which difference is taken the other way round, or which minus is missing?",
    "items": (
        "Count what you return against what the docstring lists. What is missing, or too much?"
    ),
    "one-wrong": "What is different about the one that is wrong?",
    "generator": (
        "A function with `yield` gives a generator, and so do round brackets with a `for` in them. "
        "Make a list of it and return that."
    ),
}
"""What is seen of a value of another type or length -> what to think about; `compare.more_of`."""

RAISED: dict[str, str] = {
    "NameError": (
        "Python knows no such name at this line. Is it spelled as where you set it, and is it set "
        "before?"
    ),
    "UnboundLocalError": (
        "This name is set somewhere in the function, but not on the way that led here. Set it "
        "before the line that reads it."
    ),
    "ModuleNotFoundError": (
        "Python finds no such module. Is the name spelled right, and is the module installed?"
    ),
    "ImportError": "The module is there, and has no such name. Is it spelled right?",
    "IndexError": (
        "The index lies outside. Print the index and the length; is there nothing in it in this "
        "case?"
    ),
    "KeyError": "There is no such key. Print the keys that there are.",
    "ZeroDivisionError": (
        "What stands below the line is 0 here. What does the puzzle ask for in this case?"
    ),
    "RecursionError": "The function calls itself without end. Which call should be the last?",
    "SystemExit": "exit() ends the whole program. A function ends with `return`.",
}
"""Name of an exception -> what to think about."""

ANOTHER_ERROR = (
    "Here a ValueError is the right answer, and no other error. Does your code look for what "
    "cannot be before it goes on, and say raise ValueError?"
)
"""Of another error where a puzzle asks for that one."""
_OF_NONE = (
    "Something is None here. A function without `return` gives None, and so do list.append, "
    "list.sort and others that change what is there."
)
_OF_NONE_ON_RANKS = (
    "Something is None here. A function without `return` gives None, and so do dist.all_reduce and "
    "others that change what is there. So is a .grad that has not come yet."
)
_NO_GRAPH = (
    "PyTorch has no graph to go back through here. It builds none under torch.no_grad() and from "
    "a detached tensor or a number (.item()). Where is yours cut?"
)
_NO_HOOK = (
    "A tensor that asks for no gradient gets none, and takes no hook. Which of them ask for one?"
)
_ENTERED_TWICE = (
    "A context manager that a generator made can be entered once. Does every `with` get one of "
    "its own?"
)
_NOT_A_MANAGER = (
    "A `with` calls __enter__ and __exit__, and this has none. Where a function says yield, "
    "@contextmanager in the line above it makes what it gives have both."
)
_NOT_A_FUNCTION = (
    "What stands before these round brackets is no function here. Is its name, such as sum or "
    "max, set to a value somewhere, or is an operator missing?"
)
_FEWER_AXES = "There are fewer axes than this line asks for. Print the shape of what it works on."
_OTHER_SHAPE = "What stands in the brackets does not fit. Print its shape, and that of the array."
_NO_INDEX = (
    "What stands in the brackets is no index: that takes whole numbers, slices or booleans. Print "
    "its dtype."
)
_MANY_AT_ONCE = (
    "Many numbers together are neither true nor false. Two tensors or arrays compared by == give "
    "many again, and `in` and index() of a list compare that way. Which of these stands in that "
    "line?"
)
_PARTS_OF_ONE_LENGTH = (
    "The collective takes a part for each rank, all of one length, which is that of what comes "
    "out. How long is what you hand in, and how long is a part?"
)
OF_TEXT: tuple[tuple[str, str, str], ...] = (
    ("AttributeError TypeError", "NoneType", _OF_NONE),
    ("RuntimeError", "does not require grad and does not have a grad_fn", _NO_GRAPH),
    ("RuntimeError", "cannot register a hook on a tensor that doesn't require", _NO_HOOK),
    ("AttributeError", "'_GeneratorContextManager' object has no attribute", _ENTERED_TWICE),
    ("TypeError", "does not support the context manager protocol", _NOT_A_MANAGER),
    ("TypeError", "object is not callable", _NOT_A_FUNCTION),
    ("RuntimeError", "Boolean value of Tensor with more than one", _MANY_AT_ONCE),
    ("ValueError", "The truth value of an array with more than one", _MANY_AT_ONCE),
    ("RuntimeError", "* worldSize == input", _PARTS_OF_ONE_LENGTH),
    ("RuntimeError", "Check failed: outputs[0]", _PARTS_OF_ONE_LENGTH),
    ("IndexError", "too many indices", _FEWER_AXES),
    ("IndexError", "0-dim tensor", _FEWER_AXES),
    ("IndexError", "scalar variable", _FEWER_AXES),
    ("IndexError", "Dimension out of range", _FEWER_AXES),
    ("AxisError", "", _FEWER_AXES),
    ("IndexError", "shape mismatch", _OTHER_SHAPE),
    ("IndexError", "boolean index did not match", _OTHER_SHAPE),
    ("IndexError", "The shape of the mask", _OTHER_SHAPE),
    ("IndexError", "valid indices", _NO_INDEX),
    ("IndexError", "used as indices must be", _NO_INDEX),
)
"""(names of exceptions, part of what it says, what to think about): looked at before RAISED."""


def sentence_of_raised(puzzle: Puzzle, name: str, text: str) -> str:
    """Returns what a learner is told on an exception, by its name and what it says.

    A puzzle has no sentence of its own for it: nobody knows beforehand what a line will raise.
    """
    for names, part, sentence in OF_TEXT:
        if name in names.split() and part in text:
            return _OF_NONE_ON_RANKS if sentence == _OF_NONE and _on_ranks(puzzle) else sentence
    return RAISED.get(name) or PYTHON_SENTENCES["exception"]


def _on_ranks(puzzle: Puzzle) -> bool:
    return isinstance(puzzle, PythonPuzzle) and puzzle.ranks is not None


def sentence_of(puzzle: Puzzle, key: str) -> str:
    """Returns what a puzzle's learner is told on a diagnosis: its own sentence, or the grader's."""
    own = PYTHON_SENTENCES if isinstance(puzzle, PythonPuzzle) else SENTENCES
    own = own | ON_RANKS if _on_ranks(puzzle) else own
    return puzzle.diagnoses.get(key) or own.get(key, "")


HINT_KINDS: dict[str, str] = {
    "unwritten": "who writes what",
    "rebound": "who writes what",
    "block-unwritten": "a thread's index",
    "tail-unwritten": "the guard",
    "tail-wrong": "the guard",
    "only-first-block-right": "a thread's index",
    "shifted": "indices",
    "transposed": "rows and columns",
    "reversed": "indices",
    "copied-input": "the computation",
    "constant-offset": "the computation",
    "constant-factor": "the computation",
    "not-a-number": "the guard",
    "unusual-numbers": "the computation",
    "made-nan": "the computation",
    "out-of-bounds": "the guard",
    "race": "who writes what",
    "barrier-divergence": "barriers",
    "endless-loop": "the loop",
    "waits-for-a-block-outside": "the order of blocks",
    "no-fence-after": "fences",
    "input-changed": "who writes what",
    "over-budget": "the cost",
    "not-shared": "who writes what",
    "done-again": "who reads what",
    "order-dependent": "the order of threads",
    "other-bits": "what depends on the grid",
}
"""Diagnosis key -> what a hint that helps with it is about."""
