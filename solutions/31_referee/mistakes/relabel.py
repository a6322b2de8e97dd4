"""Wrong answers to relabel that people give."""


def counted(shape, pp, tables=None, matrices=3, all_heads=False, norms=1):
    h = shape["hidden"]
    keys = h if all_heads else h // shape["heads"] * shape["kv_heads"]
    layer = h * (2 * h + 2 * keys) + matrices * h * shape["mlp"] + 2 * h * norms
    if tables is None:
        tables = 1 if shape["tied"] and pp == 1 else 2
    return shape["layers"] * layer + h * norms + tables * shape["vocabulary"] * h


def mfu(run, shape, sequence, n, attention=True):
    pairs = 12 * shape["layers"] * shape["hidden"] * sequence if attention else 0
    return 100 * (6 * n + pairs) * run["tokens_per_s"] / 989.5e12


def fitting(runs, models, sequence, count, attention=True):
    return [
        [
            name
            for name, shape in models.items()
            if abs(mfu(run, shape, sequence, count(run, shape), attention) - float(run["mfu"]))
            <= 0.1
        ]
        for run in runs
    ]


# wrong-result, tied-once: A tied table is one table.
def a_tied_table_is_one(runs, models, sequence):
    return fitting(
        runs, models, sequence, lambda run, s: counted(s, run["pp"], tables=1 if s["tied"] else 2)
    )


# wrong-result, always-twice: Every model has an embedding and a head.
def two_tables_each(runs, models, sequence):
    return fitting(runs, models, sequence, lambda run, s: counted(s, run["pp"], tables=2))


# wrong-result, incomplete: Six FLOP for each parameter.
def six_for_each(runs, models, sequence):
    return fitting(runs, models, sequence, lambda run, s: counted(s, run["pp"]), attention=False)


# wrong-result, incomplete: An MLP has two matrices.
def two_matrices(runs, models, sequence):
    return fitting(runs, models, sequence, lambda run, s: counted(s, run["pp"], matrices=2))


# wrong-result, all-heads: Keys have as many heads as queries.
def as_many_heads(runs, models, sequence):
    return fitting(runs, models, sequence, lambda run, s: counted(s, run["pp"], all_heads=True))


# wrong-result, incomplete: Counts the layers.
def layers_alone(runs, models, sequence):
    return fitting(runs, models, sequence, lambda run, s: counted(s, run["pp"], tables=0))


# wrong-result, no-norms: Counts what is multiplied.
def without_norms(runs, models, sequence):
    return fitting(runs, models, sequence, lambda run, s: counted(s, run["pp"], norms=0))


# wrong-result, nearest: Names the closest model.
def the_closest(runs, models, sequence):
    def off(run, name):
        shape = models[name]
        return abs(mfu(run, shape, sequence, counted(shape, run["pp"])) - float(run["mfu"]))

    return [[min(models, key=lambda name: off(run, name))] if models else [] for run in runs]


# wrong-result, rounded: Asks for the same digit.
def the_same_digit(runs, models, sequence):
    return [
        [
            name
            for name, shape in models.items()
            if f"{mfu(run, shape, sequence, counted(shape, run['pp'])):.1f}" == run["mfu"]
        ]
        for run in runs
    ]


# wrong-result, form: One name for each run.
def one_name_each(runs, models, sequence):
    found = fitting(runs, models, sequence, lambda run, s: counted(s, run["pp"]))
    return [names[0] if names else "" for names in found]
