"""What opens, updates and watches the course: `gpu-course lab`, `update` and `watch`."""
