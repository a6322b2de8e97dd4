"""What a simple model takes for granted, and what becomes of it where that fails."""

from __future__ import annotations

BREAKS = {
    "cache": (
        "The model sends every byte that is asked for to DRAM. A cache kept some of them, so fewer "
        "were moved."
    ),
    "latency": (
        "The model has enough work in flight to hide every wait. Here each step waits for the one "
        "before it, or there is too little to do meanwhile."
    ),
    "overhead": (
        "The model counts the work of the kernel alone. Starting it, or what the host does around "
        "it, took time too."
    ),
    "power": (
        "The model takes the clock as fixed. The chip lowers its clock to stay within its power, "
        "and how much power is drawn depends on the data."
    ),
    "overlap": (
        "The model adds up parts, or takes the longest of them. In the machine they overlapped "
        "otherwise."
    ),
    "contention": (
        "The model lets every access through at once. Accesses to the same place had to queue."
    ),
    "saturation": (
        "The model grows in proportion. One part of the machine was full before that, and more "
        "gained nothing."
    ),
    "occupancy": (
        "The model takes more resident warps for more speed. What counts is the work in flight, "
        "and one thread can bring several pieces of it."
    ),
    "instructions": (
        "The model counts bytes alone. The instructions that move and add them were what the "
        "kernel waited for."
    ),
    "spills": (
        "The model keeps in registers what a thread needs again. There were not enough of them, "
        "and the rest went to local memory and came back."
    ),
    "pipes": (
        "The model gives an instruction the rate of a similar one. The machine has another unit "
        "for it, with a rate of its own."
    ),
    "granularity": (
        "The model moves single sectors of 32 bytes. Some part of the machine moves more than that "
        "at a time, whether it was asked for or not."
    ),
    "waves": (
        "The model shares the work out evenly. Tiles go to the SMs one at a time, and here some "
        "SMs had none, or one less than others."
    ),
    "protocol": (
        "The model has one fixed time and one rate for all sizes. In between, the library went "
        "over to another algorithm or protocol, which has others."
    ),
    "topology": (
        "The model has one kind of link between any two. In the machine some messages pass more "
        "switches than others, or share a way with them."
    ),
    "facility": (
        "The model counts the computers alone. What cools them, and what is lost between the grid "
        "and their plugs, is paid for as well."
    ),
    "activations": (
        "The model counts weights, gradients and states. What a batch leaves behind in each layer "
        "was held as well, and it is not cut over the ranks."
    ),
    "attention": (
        "The model lets all FLOP run at one rate. Those of pairs of tokens come in smaller "
        "products, with a softmax between them, and run at a lower one."
    ),
    "share": (
        "The model makes all of the work faster by one factor. Only a share of it was, and the "
        "rest took as long as before."
    ),
    "batch": (
        "The model gives each device as much work at a time in both runs. Memory that became free "
        "went into a larger batch, which runs at another rate."
    ),
    "passes": (
        "The model counts the passes over an array that the formula needs. The program made more: "
        "each copy, each change of type and each operation of its own is one."
    ),
    "imbalance": (
        "The model shares the work out evenly. Some blocks had more of it than others, and the "
        "last one decides when the kernel is over."
    ),
    "stages": (
        "The model cuts the layers into stages that take equally long. They did not, and the "
        "slowest one set the pace of all."
    ),
    "version": (
        "The model takes a program for the same wherever its name is. A newer version, or another "
        "compiler, made another kernel of it."
    ),
    "communication": (
        "The model counts what is computed. What the devices sent each other took its time as well."
    ),
    "convention": (
        "The model counts all that the shapes say. The source left something out, or rounded in "
        "another way, and does not say which."
    ),
    "reuse": (
        "The model lets one read of the weights serve the whole batch. The kernel read them anew "
        "for each sequence."
    ),
    "alignment": (
        "The model lets products of all shapes run at one rate. A side that is no multiple of 64, "
        "or even of 8, does not fit into tiles and tensor cores, and its product takes longer."
    ),
    "again": (
        "The model counts one forward and one backward pass. Memory was short, and a part of the "
        "forward pass ran once more."
    ),
    "independence": (
        "The model lets parts fail one by one, each as often as if it were alone. Some faults took "
        "many parts at once, or came back with the same part."
    ),
    "one_rate": (
        "The model takes the rate of failures from another cluster, or another count. Parts of "
        "another age failed at another rate, or other failures were counted."
    ),
}
"""An assumption of a simple model that may fail -> the sentence that says how."""
