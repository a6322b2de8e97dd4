"""What scripts ask on the host: devices, streams, events, pinned and mapped memory, views."""

import numpy as np
from numba import cuda


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


device = cuda.get_current_device()
print(cuda.is_available(), len(cuda.gpus), device.compute_capability, device.WARP_SIZE)
print(device.MAX_THREADS_PER_BLOCK, cuda.select_device(0).device is device)
free, total = cuda.current_context().get_memory_info()
print(0 < free <= total)

stream, begin, end = cuda.stream(), cuda.event(), cuda.event()
with cuda.pinned(np.zeros(3)), stream.auto_synchronize(), cuda.defer_cleanup():
    begin.record(stream)
    d = cuda.to_device(np.arange(6.0), stream=stream)
    double[1, 32, stream](d)
    end.record(stream)
    end.synchronize()
print(cuda.event_elapsed_time(begin, end) > 0, *d.copy_to_host(stream=stream))

rows = d.reshape(2, 3)
rows[1, :] = np.array([7.0, 8.0, 9.0])
print(rows.shape, rows.T.shape, len(rows), d[3], rows[1].ravel().size, *d[4:].copy_to_host())
target = np.empty(6)
d.copy_to_host(target)
d.copy_to_device(target[::-1].copy())
print(*target, *d.copy_to_host())

for make in (cuda.mapped_array, cuda.managed_array, cuda.pinned_array):
    x = make(4, dtype=np.float32)
    x[:] = 1
    double[1, 4](x)
    print(*x, end=" ")
print()
host = np.ones(3)
with cuda.mapped(host) as d_host:
    double[1, 3](d_host)
double[1, 3](cuda.In(host))
print(*host, cuda.is_cuda_array(d), cuda.as_cuda_array(d).size)
