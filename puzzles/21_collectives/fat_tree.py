"""fat_tree: the switches and cables that join so many GPUs.

    fat_tree(gpus, ports, oversubscribed) -> (switches, cables)

    gpus            how many GPUs, each with one cable to a switch; 1 or
                    more
    ports           how many ports each switch has, an even number
    oversubscribed  1: full bandwidth everywhere; r: on the level below
                    the top, at most r cables down for one cable up
    switches        list: how many on each level, from the GPUs up
    cables          list: how many end at each level from below

Take as few levels as will do. One level is a single switch. With more:

* Below the top, half of a switch's ports go down and half up. On the
  level just below the top only as many go up as r asks for; the others
  go down.
* A switch at the top has all its ports down, each to a different part
  of the network below it. So the most GPUs that can be joined are its
  ports times the ports down of one switch of every level below.
* The switches of a level are as few as its cables from below allow. All
  their ports up have a cable.
"""


def fat_tree(gpus, ports, oversubscribed):
    # your code here (about 18 lines)
    pass
