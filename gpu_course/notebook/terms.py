"""The words of the course, one per idea: this is the table every lesson and message keeps to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """One word of the course.

    Attributes:
        name: the word.
        meaning: one sentence.
        lesson: the lesson in which it is met first.
        entry: its article in Modal's GPU Glossary, as a path, or "".
        also: other words for the same thing in other texts.
    """

    name: str
    meaning: str
    lesson: str
    entry: str = ""
    also: tuple[str, ...] = ()


_START, _THREADS, _WARPS = "00_start_here", "01_threads", "02_warps"
_COALESCING, _SHARED = "03_coalescing", "04_shared_memory"
_MATMUL = "06_matmul"
_REDUCTIONS = "05_reductions_and_scans"

TERMS = (
    Term("host", "The CPU and its memory: it prepares the data and asks for launches.", _START),
    Term("device", "The GPU and its memory: it runs the kernels.", _START),
    Term(
        "kernel",
        "A function that the host asks the device to run, once in every thread of a launch.",
        _START,
        "device-software/kernel",
    ),
    Term(
        "launch",
        "One request to run a kernel, written kernel[grid, block](arguments).",
        _START,
        "device-software/kernel-launch-configuration",
    ),
    Term(
        "thread",
        "One run of the kernel, with its own variables and its own index.",
        _START,
        "device-software/thread",
        ("CUDA thread",),
    ),
    Term(
        "driver",
        "The program between the operating system and the GPU; it decides which toolkits can run.",
        _START,
        "host-software/nvidia-gpu-drivers",
    ),
    Term(
        "toolkit",
        "The compiler and libraries that a CUDA program is built with.",
        _START,
        "host-software/cuda-software-platform",
        ("CUDA Toolkit",),
    ),
    Term(
        "compute capability",
        "The number, such as 9.0, that says which features and limits a GPU has.",
        _START,
        "device-software/compute-capability",
    ),
    Term(
        "PTX",
        "An assembly language for a virtual GPU; the driver translates it for the real one.",
        _START,
        "device-software/parallel-thread-execution",
    ),
    Term(
        "SASS",
        "The machine instructions of one real GPU architecture.",
        _START,
        "device-software/streaming-assembler",
        ("machine code",),
    ),
    Term(
        "SM",
        "Streaming multiprocessor: the part of a GPU that holds whole blocks and runs their warps.",
        _START,
        "device-hardware/streaming-multiprocessor",
    ),
    Term(
        "hazard",
        "Something wrong with a launch that the simulator saw, even where the result is right.",
        _START,
    ),
    Term("dtype", "The type of the elements of an array, such as float32: 4 bytes each.", _START),
    Term(
        "block",
        "The threads that run on one SM together and can share memory and wait for each other.",
        _THREADS,
        "device-software/thread-block",
        ("thread block", "CTA"),
    ),
    Term(
        "grid",
        "All blocks of one launch; no order among them is promised.",
        _THREADS,
        "device-software/thread-block-grid",
    ),
    Term(
        "global index",
        "A thread's place in the whole grid: blockIdx * blockDim + threadIdx, or cuda.grid.",
        _THREADS,
    ),
    Term(
        "guard",
        "The condition that keeps threads without a cell away from memory.",
        _THREADS,
        also=("bounds check",),
    ),
    Term(
        "grid-stride loop",
        "A loop in which each thread starts at its global index and steps by the size of the grid.",
        _THREADS,
    ),
    Term(
        "flat index",
        "The position of an element when all elements of an array are counted in one line.",
        _THREADS,
        also=("linear index",),
    ),
    Term(
        "row-major",
        "The order in memory in which the elements of one row are neighbours: the last index runs"
        " fastest.",
        _THREADS,
        also=("C order",),
    ),
    Term(
        "stride",
        "The distance in memory, in elements, from one access or index to the next.",
        _THREADS,
    ),
    Term(
        "global memory",
        "The large memory of the device, which all threads reach and where arrays live.",
        _THREADS,
        "device-software/global-memory",
        ("device memory",),
    ),
    Term(
        "register",
        "The fastest storage there is: it holds the variables of one thread.",
        _THREADS,
        "device-software/registers",
    ),
    Term(
        "race",
        "Two threads touch one address, at least one writes, and nothing says which comes first.",
        _THREADS,
        also=("data race",),
    ),
    Term(
        "atomic",
        "A read, a change and a write of one cell, which no other thread can interrupt.",
        _THREADS,
    ),
    Term(
        "warp",
        "32 threads of one block that are issued one instruction together.",
        _WARPS,
        "device-software/warp",
    ),
    Term("lane", "The place of a thread in its warp, 0 to 31.", _WARPS),
    Term("mask", "The 32 bits that say which lanes of a warp take part in an instruction.", _WARPS),
    Term(
        "divergence",
        "Lanes of one warp take different branches, so the warp walks through both.",
        _WARPS,
        "perf/branch-efficiency",
        ("branch divergence",),
    ),
    Term(
        "vote",
        "An instruction in which each lane of a warp says yes or no, and all learn the answers.",
        _WARPS,
        also=("ballot",),
    ),
    Term(
        "shuffle",
        "An instruction in which each lane of a warp reads a variable of another lane.",
        _WARPS,
    ),
    Term(
        "butterfly",
        "Shuffles in which lanes exchange values in pairs, so that all end with one result.",
        _WARPS,
    ),
    Term(
        "latency",
        "The time from issuing an instruction until its result can be used.",
        _WARPS,
        "perf/latency-hiding",
    ),
    Term(
        "latency hiding",
        "While one warp waits for a result, the SM issues instructions of others.",
        _WARPS,
        "perf/latency-hiding",
    ),
    Term(
        "Little's law",
        "To keep a pipe full, as much must be in flight as its latency times its throughput.",
        _WARPS,
        "perf/littles-law",
    ),
    Term(
        "resident",
        "A block or warp is resident while it has its place, registers and memory on an SM.",
        _WARPS,
    ),
    Term(
        "occupancy",
        "The warps that an SM holds, as a share of the most that it can hold.",
        _WARPS,
        "perf/occupancy",
    ),
    Term(
        "request",
        "One load or store instruction of one warp, however many of its lanes take part.",
        _COALESCING,
    ),
    Term(
        "sector",
        "32 neighbouring bytes of global memory, moved together or not at all.",
        _COALESCING,
    ),
    Term(
        "excess sectors",
        "The sectors a request touched beyond the fewest that could hold the bytes it asked for.",
        _COALESCING,
    ),
    Term(
        "coalescing",
        "The lanes of a warp touch neighbouring addresses, so that a request needs few sectors.",
        _COALESCING,
        "perf/memory-coalescing",
    ),
    Term(
        "alignment",
        "Where an access begins: aligned to n bytes is at an address that is a multiple of n.",
        _COALESCING,
    ),
    Term(
        "array of structs",
        "A layout in which all fields of one record lie side by side, and then those of the next.",
        _COALESCING,
        also=("AoS",),
    ),
    Term(
        "struct of arrays",
        "A layout in which each field of all records has an array of its own.",
        _COALESCING,
        also=("SoA",),
    ),
    Term(
        "shared memory",
        "A small fast memory in the SM that the threads of one block have in common.",
        _SHARED,
        "device-software/shared-memory",
    ),
    Term(
        "bank",
        "One of the 32 parts of shared memory, each of which serves one four-byte word at a time.",
        _SHARED,
        "perf/bank-conflict",
    ),
    Term("wavefront", "One pass of a request through the banks of shared memory.", _SHARED),
    Term(
        "barrier",
        "A line of the kernel that no thread of a block passes before all have reached it.",
        _SHARED,
        also=("syncthreads",),
    ),
    Term(
        "tile",
        "The piece of the data that a block keeps in shared memory and works on together.",
        _SHARED,
    ),
    Term(
        "barrier interval",
        "What a block does between one barrier and the next: within it nothing is ordered.",
        _SHARED,
    ),
    Term(
        "halo",
        "The cells around its own piece that a block loads as well, because its threads need them.",
        _SHARED,
        also=("ghost cells", "apron"),
    ),
    Term(
        "bank conflict",
        "Lanes of one request ask for different words of one bank and are served one by one.",
        _SHARED,
        "perf/bank-conflict",
    ),
    Term(
        "budget",
        "A limit on a counter that a right answer must also keep, such as sectors or barriers.",
        _COALESCING,
    ),
    Term(
        "reduction",
        "Many numbers become one, by an operation that can be regrouped: a sum, a maximum.",
        _REDUCTIONS,
        also=("fold",),
    ),
    Term(
        "tree",
        "An order of a reduction: pairs are combined at the same time, then pairs of those.",
        _REDUCTIONS,
    ),
    Term(
        "identity element",
        "The number that changes nothing: 0 for a sum, 1 for a product, -infinity for a maximum.",
        _REDUCTIONS,
        also=("neutral element",),
    ),
    Term(
        "privatisation",
        "Each block or warp collects in a table of its own, which is added to the common one once.",
        _REDUCTIONS,
    ),
    Term(
        "register tile",
        "The results of a matrix product that one thread keeps in its registers until whole.",
        _MATMUL,
    ),
    Term(
        "double buffering",
        "Filling one pair of tiles while another is used.",
        _MATMUL,
        also=("double buffer",),
    ),
    Term(
        "epilogue",
        "What a kernel does to a finished sum before it stores it.",
        _MATMUL,
    ),
    Term(
        "wave",
        "As many blocks as all SMs together hold at once.",
        _MATMUL,
    ),
    Term(
        "tile quantisation",
        "A side of a result is covered by whole tiles, however few of its cells the last one has.",
        _MATMUL,
    ),
    Term(
        "bandwidth",
        "Bytes that can be moved in a second.",
        "10_roofline",
        "perf/memory-bandwidth",
    ),
    Term(
        "arithmetic intensity",
        "Operations done for each byte moved.",
        "10_roofline",
        "perf/arithmetic-intensity",
    ),
    Term(
        "roofline",
        "The most FLOP/s that a card's two rates allow, over the arithmetic intensity.",
        "10_roofline",
        "perf/roofline-model",
    ),
    Term(
        "ridge",
        "The arithmetic intensity at which a card's arithmetic and memory take equally long.",
        "10_roofline",
        also=("ridge point", "critical intensity", "machine balance"),
    ),
    Term(
        "activation",
        "A value that the forward pass computes and the backward pass needs again.",
        "16_memory_ledger",
    ),
    Term(
        "microbatch",
        "The part of a batch that goes through the model in one forward and backward pass.",
        "16_memory_ledger",
    ),
    Term(
        "rank",
        "A process that takes part in a group, and its number in it.",
        "21_collectives",
    ),
    Term(
        "collective",
        "A call that all ranks of a group make together, such as a sum over all of them.",
        "21_collectives",
        also=("collective operation",),
    ),
    Term(
        "reduce-scatter",
        "A collective that leaves each rank with its own chunk of the sum over all ranks.",
        "21_collectives",
    ),
    Term(
        "all-gather",
        "A collective that leaves every rank with the chunks of all ranks.",
        "21_collectives",
        also=("allgather",),
    ),
    Term(
        "all-reduce",
        "A collective that leaves every rank with the whole sum over all ranks.",
        "21_collectives",
        also=("allreduce",),
    ),
    Term(
        "ring",
        "An order of the ranks in which each sends to the next alone, and the last to the first.",
        "21_collectives",
    ),
    Term(
        "alpha-beta model",
        "The time of a message as a delay of its own, plus its bytes over the link's rate.",
        "21_collectives",
        also=("Hockney model", "latency-bandwidth model"),
    ),
    Term(
        "bus bandwidth",
        "The rate that links must have carried at least, whatever the number of ranks, for a "
        "collective to take the time that it took.",
        "21_collectives",
        also=("busbw",),
    ),
    Term(
        "oversubscribed",
        "Of a network: with less bandwidth upwards from its switches than down to the nodes.",
        "21_collectives",
    ),
    Term(
        "root",
        "The one rank of a collective that gives or gets all, as in a broadcast or a reduce.",
        "21_collectives",
    ),
    Term(
        "backend",
        "The library that carries a group's messages: NCCL between GPUs, gloo between CPUs.",
        "21_collectives",
    ),
    Term(
        "payload",
        "The bytes of a message that were asked for, without the heads that carry them.",
        "21_collectives",
    ),
    Term(
        "communication matrix",
        "A table of who has sent whom how many bytes.",
        "21_collectives",
    ),
    Term(
        "BSP",
        "A model of computing in supersteps: all compute, all exchange, all wait for the last.",
        "21_collectives",
        also=("bulk-synchronous parallel",),
    ),
    Term(
        "double tree",
        "Two trees over the same ranks, each with half of the buffer; inner ranks of one are "
        "leaves of the other.",
        "21_collectives",
        also=("double binary tree", "two-tree"),
    ),
    Term(
        "node",
        "A machine with several ranks, whose links are quicker than those to other machines.",
        "21_collectives",
    ),
    Term(
        "two levels",
        "A collective within each node and then between nodes, by ranks of the same place.",
        "21_collectives",
        also=("hierarchical all-reduce",),
    ),
    Term(
        "fat tree",
        "A network of switches with as many cables upwards as downwards below the top.",
        "21_collectives",
        also=("Clos network",),
    ),
    Term(
        "rail",
        "The switches that join the GPUs of the same place in all nodes.",
        "21_collectives",
        also=("rail-optimised",),
    ),
    Term(
        "replica",
        "One of several copies of a model that learn from different rows and are kept equal.",
        "22_data_parallel",
    ),
    Term(
        "bucket",
        "Gradients that are sent together, in one message.",
        "22_data_parallel",
    ),
    Term(
        "warm-up",
        "The first steps of a training, in which the rate grows to its full height.",
        "22_data_parallel",
    ),
    Term(
        "staleness",
        "How many versions of the weights have passed since those a gradient was taken at.",
        "22_data_parallel",
    ),
    Term(
        "reducer",
        "What collects gradients into buckets and sends each as soon as it is complete.",
        "22_data_parallel",
    ),
    Term(
        "linear scaling",
        "k times the batch with k times the learning rate.",
        "22_data_parallel",
    ),
    Term(
        "sharp minimum",
        "A place where a small change of the weights makes the loss rise steeply.",
        "22_data_parallel",
    ),
    Term(
        "parameter server",
        "A process that holds the weights; workers pull them and push gradients, and none waits.",
        "22_data_parallel",
    ),
    Term(
        "shard",
        "The part of a tensor that one device keeps.",
        "23_zero_and_fsdp",
        also=("slice", "partition"),
    ),
    Term(
        "unit",
        "A part of a model whose weights are gathered together, used, and let go of.",
        "23_zero_and_fsdp",
        also=("FSDP unit",),
    ),
    Term(
        "ZeRO",
        "Data parallelism in which each rank keeps only a part of the states, in stage 2 also of "
        "the gradients, in stage 3 also of the weights.",
        "23_zero_and_fsdp",
        also=("zero redundancy optimizer", "sharded data parallelism"),
    ),
    Term(
        "FSDP",
        "ZeRO's third stage in PyTorch: units are gathered, used, and let go of.",
        "23_zero_and_fsdp",
        also=("fully_shard",),
    ),
    Term(
        "prefetch",
        "Beginning to gather the next unit before it is needed.",
        "23_zero_and_fsdp",
    ),
    Term(
        "resharding",
        "Letting go of a gathered unit; of a saved state, cutting it anew for other ranks.",
        "23_zero_and_fsdp",
        also=("reshard",),
    ),
    Term(
        "tensor parallelism",
        "Cutting the matrices of each layer among ranks that work on the same tokens.",
        "24_tensor_parallel",
        also=("model parallelism", "tensor slicing"),
    ),
    Term(
        "sequence parallelism",
        "Sharing out the tokens among the same ranks where no matrix is cut: norms, dropouts.",
        "24_tensor_parallel",
    ),
    Term(
        "column layer",
        "A linear layer of which each rank computes some of the outputs.",
        "24_tensor_parallel",
        also=("column parallel",),
    ),
    Term(
        "row layer",
        "A linear layer of which each rank takes some of the inputs; their results are added up.",
        "24_tensor_parallel",
        also=("row parallel",),
    ),
    Term(
        "f and g",
        "What stands before and behind two cut layers: f sums in the backward pass, g in the "
        "forward pass.",
        "24_tensor_parallel",
        also=("f", "g"),
    ),
    Term(
        "DTensor",
        "PyTorch's tensor that knows which of its parts lie on which ranks.",
        "24_tensor_parallel",
        also=("distributed tensor",),
    ),
    Term(
        "SUMMA",
        "A matrix product on a grid of ranks, panel by panel along rows and columns.",
        "24_tensor_parallel",
    ),
    Term(
        "context parallelism",
        "One sequence spread over several ranks, each of which holds a part of its tokens.",
        "25_context_parallel",
        also=("sequence parallelism of attention", "CP"),
    ),
    Term(
        "lse",
        "The logarithm of a sum of exp(score): what a part of the keys weighs in a softmax.",
        "25_context_parallel",
        also=("log-sum-exp",),
    ),
    Term(
        "ring attention",
        "Exact attention over ranks: queries stay, blocks of keys and values go round a ring.",
        "25_context_parallel",
    ),
    Term(
        "zigzag",
        "An order of tokens in which each rank has an early chunk and a late one, and equal work.",
        "25_context_parallel",
    ),
    Term(
        "striped",
        "An order of tokens in which every n-th belongs to the same rank.",
        "25_context_parallel",
    ),
    Term(
        "all-to-all",
        "A collective in which every rank sends something else to every other.",
        "25_context_parallel",
        also=("alltoall",),
    ),
    Term(
        "Ulysses",
        "Attention over ranks by two all-to-alls: tokens are exchanged for heads and back.",
        "25_context_parallel",
    ),
    Term(
        "stage",
        "The consecutive layers that one device of a pipeline holds.",
        "26_pipelines",
    ),
    Term(
        "bubble",
        "The time in which a device of a pipeline has nothing to do.",
        "26_pipelines",
    ),
)
