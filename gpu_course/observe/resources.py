"""What a block of a launch takes of its SM, beside its threads."""

from __future__ import annotations

from gpu_course.simt.observer import Observer, Setting


class Resources(Observer):
    """Notes the shared memory that a block needs, in bytes: 0 for a launch that never began."""

    def __init__(self) -> None:
        self.shared_bytes = 0

    def begin(self, setting: Setting) -> None:
        """Adds what the kernel declares and what the launch asks for."""
        self.shared_bytes = setting.code.static_shared_bytes + setting.dynamic_bytes
