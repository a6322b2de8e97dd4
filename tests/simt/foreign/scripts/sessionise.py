"""Numbers the sessions of users in a log: one begins with a new user, or after a long pause."""

import numpy as np
from numba import cuda

PAUSE = np.int64(30)


@cuda.jit
def find_starts(user, time, start):
    i = cuda.grid(1)
    if i < user.size:
        start[i] = i == 0 or user[i] != user[i - 1] or time[i] - time[i - 1] > PAUSE


@cuda.jit
def number(start, session):
    i = cuda.grid(1)
    if i < start.size and start[i]:
        session[i] = i
        k = i + 1
        while k < start.size and not start[k]:
            session[k] = i
            k += 1


user = np.array([4, 4, 4, 4, 7, 7, 7, 9, 9, 9])
time = np.array([0, 10, 50, 60, 5, 6, 7, 0, 31, 61])
session = cuda.device_array(user.shape, np.int64)
start = cuda.device_array(user.shape, np.bool_)
find_starts.forall(user.size)(user, time, start)
number.forall(user.size)(start, session)
print("sessions:", *session.copy_to_host())
