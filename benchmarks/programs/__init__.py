"""Programs that compilers are given, for the records that the commands `record_...` make.

`course_kernels` yields every kernel of the course with a launch of it; the others are in Triton,
which nobody needs to have.
"""
