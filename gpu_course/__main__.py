"""`python -m gpu_course` is `gpu-course`."""

import sys

from gpu_course.cli import leave_the_current_folder, main

leave_the_current_folder()
sys.exit(main())
