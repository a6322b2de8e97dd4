"""The page of a plan: what is planned, what the program found, and where each number comes from.

It stands alone: one file of HTML without scripts, links only to sources, and the plan itself in it,
as JSON that `plan_in` reads back.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_course.draw.paper.palette import CONFLICT, FINE, INK, QUIET, RULE
from gpu_course.errors import CourseError
from gpu_course.lessons.across_oceans.plan_parts import PARTS, SOURCED, Grade, source_kind

_MARK = '<script type="application/json" id="gpu-course-plan">'
_SIGNS = {
    True: ("\N{CHECK MARK}", FINE),
    False: ("\N{MULTIPLICATION X}", CONFLICT),
    None: ("?", QUIET),
}

_WORDS: dict[str, tuple[str, str]] = {
    "kv_heads": ("KV heads", ""),
    "mlp": ("inside the MLP", "numbers"),
    "dp": ("data parallel", "copies"),
    "tp": ("tensor parallel", "ranks"),
    "pp": ("pipeline", "stages"),
    "cp": ("context parallel", "ranks"),
    "ep": ("expert parallel", "ranks"),
    "zero": ("ZeRO", "stage"),
    "gpus": ("GPUs", ""),
    "sequences": ("sequences of a step", ""),
    "memory_gib": ("memory, fullest GPU", "GiB"),
    "step_s": ("a step", "s"),
    "days": ("the run", "days"),
    "gpu_hours_each": ("a failure in", "GPU-hours"),
    "write_s": ("a write", "s"),
    "recover_s": ("a recovery", "s"),
    "interval_s": ("between writes", "s"),
    "goodput": ("goodput", "of the time"),
    "price": ("price", "$ a GPU-hour"),
    "pue": ("PUE", ""),
    "gpu_hours": ("GPU-hours", ""),
    "mwh": ("energy", "MWh"),
    "dollars": ("money", "$"),
}
"""Name in a plan -> what the page calls it, and what stands behind its number."""

_STYLE = f"""
body {{ font: 16px/1.5 system-ui, sans-serif; color: {INK}; max-width: 46rem; margin: 2rem auto;
  padding: 0 1rem; }}
h1 {{ font-size: 1.6rem; margin-bottom: 0; }}
h2 {{ font-size: 1.15rem; margin: 2rem 0 0.3rem; }}
p.points {{ color: {QUIET}; margin-top: 0.2rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; vertical-align: top; padding: 0.25rem 0.8rem 0.25rem 0;
  border-top: 1px solid {RULE}; overflow-wrap: anywhere; }}
th {{ font-weight: 600; width: 11rem; }}
td.sign {{ width: 1.5rem; font-weight: 700; }}
td.points {{ width: 4rem; white-space: nowrap; }}
small {{ color: {QUIET}; }}
@media print {{ body {{ margin: 0; }} h2 {{ break-after: avoid; }} tr {{ break-inside: avoid; }} }}
"""


def page(plan: Mapping[str, Any], grade: Grade) -> str:
    """Returns a whole page.

    Args:
        plan: as `capstone.draft` has it.
        grade: of it.

    Raises:
        CourseError: the plan holds what JSON cannot.
    """
    title = html.escape(grade.title)
    parts = [_part(name, plan.get(name)) for name in PARTS]
    body = [
        f"<h1>{title}</h1>",
        f'<p class="points">A plan for a training run: {grade.points} of {grade.of} points</p>',
        *filter(None, parts),
        _section("Risks", _risks(plan.get("risks"))),
        _section("Sources", _sources(plan.get("sources"))),
        _section("What was checked", _checked(grade)),
    ]
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        *body,
        f"{_MARK}{_as_json(plan)}</script>",
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def is_page(file: Path) -> bool:
    """Whether a file is a page that was made here."""
    try:
        return _MARK in file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def plan_in(path: str | Path) -> dict[str, Any]:
    """Returns the plan that a page was made of; pairs come back as lists.

    Args:
        path: of the page.

    Raises:
        CourseError: there is no such page, or no plan in it.
    """
    file = Path(path)
    if not file.is_file() or not is_page(file):
        raise CourseError(f"{file} is no page of a plan", "name one that exported() has written")
    text = file.read_text(encoding="utf-8").partition(_MARK)[2].partition("</script>")[0]
    found: dict[str, Any] = json.loads(text)
    return found


def _as_json(plan: Mapping[str, Any]) -> str:
    try:
        said = json.dumps(plan, indent=1)
    except (TypeError, ValueError) as error:
        raise CourseError(
            f"the plan holds what no page can keep: {error}", "use numbers, texts, lists and dicts"
        ) from None
    # Nothing in it may end the element that it stands in.
    return said.replace("<", "\\u003c")


def _section(title: str, rows: Iterable[str]) -> str:
    found = list(rows)
    inside = f"<table>{''.join(found)}</table>" if found else "<p>Nothing is said.</p>"
    return f"<h2>{title}</h2>{inside}"


def _part(name: str, said: Any) -> str:
    if not isinstance(said, Mapping):
        return _section(name.capitalize(), ())
    rows = [
        f'<tr><th scope="row">{_label(str(key))}</th><td>{_value(str(key), value)}</td></tr>'
        for key, value in said.items()
    ]
    return _section(name.capitalize(), rows)


def _label(name: str) -> str:
    words = name.rpartition(".")[2]
    return html.escape(_WORDS[words][0] if words in _WORDS else words.replace("_", " "))


def _value(name: str, value: Any) -> str:
    unit = _WORDS.get(name, ("", ""))[1]
    return _plain(value) + (f" <small>{unit}</small>" if unit and value is not None else "")


def _plain(value: Any) -> str:
    if value is None:
        return "<small>not said</small>"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        whole = value == round(value, 0) or abs(value) >= 1000
        return f"{value:,.0f}" if whole and abs(value) < 1e16 else f"{value:.4g}"
    if isinstance(value, list | tuple):
        return " to ".join(map(_plain, value)) if len(value) == 2 else ", ".join(map(_plain, value))
    return html.escape(str(value))


def _risks(said: Any) -> Iterable[str]:
    if not isinstance(said, Sequence) or isinstance(said, str):
        return
    for each in said:
        if isinstance(each, Mapping):
            what, sign, answer = (_plain(each.get(name)) for name in ("what", "sign", "answer"))
            yield (
                f'<tr><th scope="row">{what}</th><td><small>seen by</small> {sign}<br>'
                f"<small>then</small> {answer}</td></tr>"
            )


def _sources(said: Any) -> Iterable[str]:
    found = said if isinstance(said, Mapping) else {}
    for name in dict.fromkeys((*SOURCED, *map(str, found))):
        source = found.get(name)
        kind = source_kind(source) or "no source"
        words = _linked(source) if isinstance(source, str) else _plain(source)
        yield (
            f'<tr><th scope="row">{_label(name)}</th><td>{words}<br><small>{kind}</small></td></tr>'
        )


def _linked(source: str) -> str:
    """Returns a text with its addresses as links."""
    parts = re.split(r"(https?://[^\s<>\"']*[^\s<>\"'.,;:)])", source)
    return "".join(
        f'<a href="{html.escape(part)}">{html.escape(part)}</a>' if at % 2 else html.escape(part)
        for at, part in enumerate(parts)
    )


def _checked(grade: Grade) -> Iterable[str]:
    for each in grade.findings:
        sign, colour = _SIGNS[each.met]
        advice = f"<br><small>try: {html.escape(each.advice)}</small>" if each.advice else ""
        points = each.points if each.met else 0
        yield (
            f'<tr><td class="sign" style="color:{colour}" title="{each.word}">'
            f'<span aria-label="{each.word}">{sign}</span></td>'
            f'<th scope="row">{html.escape(each.title)}</th>'
            f"<td>{html.escape(each.fact)}{advice}</td>"
            f'<td class="points">{points} of {each.points}</td></tr>'
        )
