"""What a script calls on the host: the parts of `gpu_course.simt.module`."""
