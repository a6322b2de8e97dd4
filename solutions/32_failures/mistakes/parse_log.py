"""Wrong answers to parse_log that people give."""

import re

FIELD = r"{}: +(\S+) \|"
NAN = float("nan")


def read(
    text,
    greedy=".*",
    end=-1,
    only_last=True,
    as_text=False,
    markers_of_all=False,
    keep="last",
    one_more=0,
    loss=r"(\S+)",
    missing=NAN,
    by_number=False,
):
    lines = []
    for line in text.split("\n")[: end or None]:
        found = re.search(greedy + r"\[default(\d+)\]: (.*)", line)
        if found:
            lines.append((found[1] if as_text else int(found[1]), found[2]))
    last = max((rank for rank, _ in lines), default=0)
    records, lost, restarts = [], [], 0
    for rank, words in lines:
        loaded = re.search(r"loaded checkpoint .* (\d+)$", words)
        record = re.match(r" *iteration +(\d+)/", words)
        if loaded and not by_number and (rank == last or markers_of_all):
            restarts += 1
            at = int(loaded[1]) - one_more
            if keep == "last":
                lost += [each for each in records if each[0] > at]
                records = [each for each in records if each[0] <= at]
        elif record and (rank == last or not only_last):
            took = re.search(FIELD.format(r"elapsed time per iteration \(ms\)"), words)
            said = re.search(r"lm loss: +" + loss + r" \|", words)
            rate = re.search(FIELD.format("TFLOPs"), words)
            if not took or not rate or (said is None and missing == "drop"):
                continue
            found = float(said[1]) if said else missing
            new = (int(record[1]), found, float(took[1]), float(rate[1]))
            again = [each for each in records if each[0] == new[0]]
            if by_number and records and new[0] <= records[-1][0]:
                restarts += 1
                lost += [each for each in records if each[0] >= new[0]]
                records = [each for each in records if each[0] < new[0]]
            elif keep == "first" and again:
                lost.append(new)
                continue
            elif keep == "overwrite" and again:
                lost += again
                records = [new if each[0] == new[0] else each for each in records]
                continue
            records.append(new)
    return {
        "records": records,
        "restarts": restarts,
        "lost": len(lost),
        "lost_ms": sum(each[2] for each in lost),
    }


# wrong-result, cut-lines: A line break ends a line, so a line is one record.
def a_line_is_a_line(text):
    return read(text, greedy="")


# wrong-result, end-cut: Reads whatever the last line has.
def reads_the_last_line_too(text):
    found = read(text)
    tail = text.split("\n")[-1]
    words = re.match(r"\[default\d+\]: +iteration +(\d+)/", tail)
    if words:
        found["records"].append((int(words[1]), NAN, NAN, NAN))
    return found


# wrong-result, other-ranks: A record is a record.
def reads_every_rank(text):
    return read(text, only_last=False)


# wrong-result, rank-as-text: Takes the largest name.
def the_largest_name(text):
    return read(text, as_text=True)


# wrong-result, each-rank-loads: Counts each line that says so.
def every_rank_restarts(text):
    return read(text, markers_of_all=True)


# wrong-result, by-number: A restart is where the numbers go back.
def where_numbers_go_back(text):
    return read(text, by_number=True)


# wrong-result, first-stays: An iteration that is there already is a repetition.
def keeps_the_first(text):
    return read(text, keep="first")


# wrong-result, overwritten-alone: What comes again replaces what was there.
def a_dict_of_iterations(text):
    return read(text, keep="overwrite")


# wrong-result, at-c-too: Begins again at c.
def loses_c_too(text):
    return read(text, one_more=1)


# wrong-result, without-loss: A record has all of its fields.
def every_field_is_there(text):
    return read(text, missing="drop")


# wrong-result, nan-dropped: A loss is made of digits.
def a_loss_has_digits(text):
    return read(text, loss=r"([\d.E+-]+|(?=x)x)", missing="drop")


# wrong-result, loss-none: What is missing is 0.
def a_missing_loss_is_zero(text):
    return read(text, missing=0.0)
