"""Records what NVIDIA's own occupancy calculator says: `python -m benchmarks.record_occupancy`.

It compiles the header cuda_occupancy.h, which the wheel `nvidia-cuda-runtime` ships, and asks it
about kernels drawn at random. Needs a C compiler and that wheel; the record is what tests read.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

from gpu_course.hardware.compute_capability import ComputeCapability, capabilities

RECORDS = Path(__file__).parents[1] / "tests" / "gpu_course" / "hardware" / "records"
RECORD = RECORDS / "occupancy.json"
PER_CAPABILITY = 25

PROGRAM = r"""
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_occupancy.h"

int main(void) {
  int major, minor, threads, shared, optin, reserved, registers, bytes, block;
  while (scanf("%d %d %d %d %d %d %d %d %d", &major, &minor, &threads, &shared, &optin, &reserved,
               &registers, &bytes, &block) == 9) {
    struct cudaOccDeviceProp device = {0};
    struct cudaOccFuncAttributes kernel = {0};
    struct cudaOccDeviceState state = {0};
    struct cudaOccResult result;
    device.computeMajor = major;
    device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = threads;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 49152;
    device.sharedMemPerMultiprocessor = shared;
    device.sharedMemPerBlockOptin = optin;
    device.reservedSharedMemPerBlock = reserved;
    device.numSms = 1;
    kernel.maxThreadsPerBlock = INT_MAX;
    kernel.numRegs = registers;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = optin;
    kernel.numBlockBarriers = 1;
    state.cacheConfig = CACHE_PREFER_SHARED;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    int error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, block,
                                                        bytes);
    printf("%d\n", error ? -1 : result.activeBlocksPerMultiprocessor);
  }
}
"""


def kernels() -> list[tuple[ComputeCapability, int, int, int]]:
    """Returns (capability, registers per thread, shared bytes, threads) of kernels at random."""
    rng = random.Random(0)
    found = []
    for limits in capabilities():
        for _ in range(PER_CAPABILITY):
            registers = rng.choice([rng.randint(1, 255), rng.randint(16, 128)])
            most = limits.max_shared_bytes_per_block_optin
            shared = rng.choice([0, rng.randint(0, 20_000), rng.randint(0, most)])
            threads = rng.choice([rng.randint(1, 1024), 32 * rng.randint(1, 32)])
            found.append((limits, registers, shared, threads))
    return found


def header() -> tuple[Path, str]:
    """Returns the folder of cuda_occupancy.h, and the name and version of the wheel it is from."""
    for wheel in distributions():
        for file in wheel.files or ():
            if file.name == "cuda_occupancy.h":
                return Path(str(wheel.locate_file(file))).parent, f"{wheel.name} {wheel.version}"
    sys.exit("cuda_occupancy.h is not installed: python -m pip install nvidia-cuda-runtime")


def record() -> dict[str, object]:
    """Returns {"source", "rows"}: a row is (version, registers, shared, threads, blocks)."""
    include, source = header()
    asked = kernels()
    lines = [
        f"{limits.number[0]} {limits.number[1]} {limits.max_threads_per_sm} "
        f"{limits.shared_bytes_per_sm} {limits.max_shared_bytes_per_block_optin} "
        f"{limits.reserved_shared_bytes_per_block} {registers} {shared} {threads}"
        for limits, registers, shared, threads in asked
    ]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "ask.c"
        program.write_text(PROGRAM)
        built = program.with_suffix("")
        subprocess.run(["cc", "-w", f"-I{include}", "-o", built, program], check=True)
        done = subprocess.run(
            [built], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
        )
    rows = [
        [limits.version, registers, shared, threads, int(blocks)]
        for (limits, registers, shared, threads), blocks in zip(
            asked, done.stdout.split(), strict=True
        )
        if int(blocks) >= 0  # a capability the header does not know
    ]
    return {"source": f"cuda_occupancy.h of {source}", "rows": rows}


def main() -> None:
    """Writes the record."""
    found = record()
    rows = ",\n".join(f"  {json.dumps(row)}" for row in found["rows"])  # type: ignore[attr-defined]
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    text = f'{{"source": {json.dumps(found["source"])}, "rows": [\n{rows}\n]}}\n'
    RECORD.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
