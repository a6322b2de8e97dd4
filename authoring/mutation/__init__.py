"""Small wrong changes to the solutions, and whether the grader finds every one of them."""

from authoring.mutation.mutants import Mutant, mutants_of
from authoring.mutation.report import describe, report, table_text
from authoring.mutation.table import Row, row_of

__all__ = ["Mutant", "Row", "describe", "mutants_of", "report", "row_of", "table_text"]
