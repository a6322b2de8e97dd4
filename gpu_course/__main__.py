"""`python -m gpu_course` is `gpu-course`."""

import sys

from gpu_course.cli import main

sys.exit(main())
