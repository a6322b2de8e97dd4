/* C(s, t, m) as gpu_course/lessons/optimal_checkpointing/dynamic_program.py fills it, written as one
   would write it in C.

   cost is (length, length, memory + 1); the other arrays are those of dynamic_program._numbers. */

#include <math.h>

void fill(double *cost, const long *least, const long *kept, const double *own, const long *taken,
          const long *forward, const long *gradient, const double *ahead, long length, long memory)
{
#define ROW(s, t) (cost + ((s) * length + (t) - (s) - 1) * (memory + 1))
    for (long t = 1; t <= length; t++)
        for (long s = t - 1; s >= 0; s--) {
            double *restrict row = ROW(s, t);
            long first = least[s * length + t - 1], rise = 0;
            for (long m = 0; m <= memory; m++)
                row[m] = INFINITY;
            for (long m = first; m <= memory; m++)
                row[m] = own[s] + (t == s + 1 ? 0 : ROW(s + 1, t)[m - kept[s]]);
            double run = 0;
            for (long c = s + 1; c < t; c++) {
                long held = (c - 1 > s ? taken[c - 1] : 0) + forward[c - 1];
                if (held > rise)
                    rise = held;
                run += ahead[c - 1];
                first = gradient[t - 1] + rise;
                if (first < taken[c])
                    first = taken[c];
                const double *left = ROW(s, c), *right = ROW(c, t) - taken[c];
                for (long m = first; m <= memory; m++) {
                    double both = run + right[m] + left[m];
                    row[m] = both < row[m] ? both : row[m];
                }
            }
        }
}
