"""Writes docs/reference from the code: `python tools/docs/reference.py`. A test compares the files with the code.

Commands come from the command line itself, policy keys and method options from their pydantic fields, guarantees and
figures from their registries, files from small releases made here, Python names from signatures and docstrings.
"""

from __future__ import annotations

import enum
import inspect
import re
import sys
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

sys.path.insert(0, str(Path(__file__).parent))
from bundle_reference import bundle

import polyveil
from polyveil.cli import app
from polyveil.measure import METRICS
from polyveil.methods import METHODS, method_class
from polyveil.methods.as_printed import DEPARTURES, departures_table
from polyveil.models import MODELS
from polyveil.policy import schema

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
MADE = "*This page is made from the code by `tools/docs/reference.py`; do not edit it.*"
PYTHON: Mapping[str, tuple[str, ...]] = {
    "What to call": (
        "read",
        "profile",
        "check",
        "anonymize",
        "verify",
        "attack",
        "advise",
        "compare",
        "report",
        "bound",
    ),
    "What comes back": (
        "Table",
        "Profile",
        "Checkup",
        "Release",
        "Verification",
        "AttackReport",
        "Advice",
        "Comparison",
        "LossBound",
    ),
    "What goes in": ("Policy",),
    "What is raised": ("PolyveilError", "InputError", "PolicyError", "Unsatisfiable", "VerificationFailed"),
}
PARTS: Mapping[str, tuple[type[BaseModel], str]] = {
    "Policy": (schema.Policy, "The file itself."),
    "about": (schema.About, "What the report tells of the release beside its figures. All of it is published."),
    "columns": (schema.Column, "One entry per column of the table: `columns: {age: {role: quasi}}`."),
    "privacy": (schema.Privacy, "The guarantees. A column's own `t`, `l`, `alpha`, `beta`, `delta` wins over these."),
    "privacy.joint": (schema.Joint, "One entry per combination of sensitive columns."),
    "method": (schema.MethodChoice, "Beside these, the [options of the method](methods.md)."),
    "release": (schema.ReleaseChoice, "How the release is published."),
}
PAGE_OF_METHOD = {name: name for name in METHODS} | {
    name: "buckets" for name in METHODS if name.split("-")[0] in ("mbf", "msdcf", "mmdcf")
}


def pages() -> dict[str, str]:
    """File name -> text of every page of the reference."""
    return {
        "commands.md": commands(),
        "policy.md": policy(),
        "methods.md": methods(),
        "guarantees.md": guarantees(),
        "figures.md": figures(),
        "bundle.md": page("What is in a release", bundle()),
        "python.md": python(),
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", MADE, *(part.strip() for part in parts)]) + "\n"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(header)
    lines = [
        head,
        ["---"] * len(head),
        *([cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def commands() -> str:
    """Every command with its arguments and options."""
    group: Any = typer.main.get_command(app)
    parts = [
        "Exit codes: 0 done, the guarantee holds; 1 it does not hold or cannot be reached; 2 wrong use or bad input."
    ]
    for name, command in group.commands.items():
        takes = [each for each in command.params if each.name != "help"]
        given = [each for each in takes if not each.opts[0].startswith("-")]
        wanted = "".join(f" {each.name.upper()}" if each.required else f" [{each.name.upper()}]" for each in given)
        text = inspect.cleandoc(command.callback.__doc__ or "")
        parts.append(f"## polyveil {name}\n\n`polyveil {name}{wanted} [OPTIONS]`\n\n{_fenced(text)}")
        hints = typing.get_type_hints(command.callback)
        rows = [_parameter(each, hints[each.name]) for each in takes]
        if rows:
            parts.append(table(("name", "takes", "default", "meaning"), rows))
    return page("Commands", *parts)


def _fenced(text: str) -> str:
    """A docstring as Markdown: an indented example becomes a code block, a lone `\\b` (for help screens) goes."""
    blocks = []
    for block in text.replace("\b\n", "").replace("\b", "").split("\n\n"):
        lines = block.splitlines()
        if lines and all(line.startswith("  ") for line in lines):
            blocks.append("```text\n" + "\n".join(line.strip() for line in lines) + "\n```")
        else:
            blocks.append(re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)(?![\w`])", r"`\1`", block.strip()))
    return "\n\n".join(blocks)


def _parameter(each: Any, hint: Any) -> tuple[str, str, str, str]:
    is_option = each.opts[0].startswith("-")
    names = (
        ", ".join(f"`{name}`" for name in [*each.opts, *each.secondary_opts]) if is_option else f"`{each.name.upper()}`"
    )
    default = each.default.value if isinstance(each.default, enum.Enum) else each.default
    shown = "required" if each.required else "" if default is None or default in ("", ()) else f"`{default}`"
    if isinstance(default, bool):
        shown = f"`{each.opts[0]}`" if default else ""
    low, high = getattr(each, "min", None), getattr(each, "max", None)
    limits = (f", at least {low:g}" if low is not None else "") + (f", at most {high:g}" if high is not None else "")
    return names, "" if hint is bool else kind(hint) + limits, shown, each.help or ""


def kind(hint: Any) -> str:
    """A type in plain words, as a reader of the documentation wants it."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return kind(inner[0])
    if origin is typing.Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(kind(each) for each in inner if each is not type(None)))
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return ", ".join(f"`{each.value}`" for each in hint)
    if origin in (tuple, list):
        return f"list of {kind(inner[0])}"
    if origin in (dict, Mapping) or getattr(origin, "__name__", "") == "Mapping":
        return f"{kind(inner[0])} -> {kind(inner[1])}"
    if origin is not None and getattr(origin, "__name__", "") == "SerializeAsAny":
        return kind(inner[0])
    plain = {str: "text", int: "whole number", float: "number", bool: "true, false", Path: "path"}
    if hint in plain:
        return plain[hint]
    return getattr(hint, "__name__", str(hint)).lower()


KINDS = {
    "hierarchy": "file, tree or rule",
    "joint": "list, see below",
    "columns": "name -> column",
    "l": "whole number, or one per security level",
}
"""Keys whose type reads badly."""


def keys_of(model: type[BaseModel]) -> str:
    """The fields of a model as a table."""
    hints = typing.get_type_hints(model)
    rows = []
    for name, field in model.model_fields.items():
        if field.exclude:
            continue
        default = field.get_default(call_default_factory=True)
        if field.is_required() or default is PydanticUndefined:
            shown = "required"
        elif isinstance(default, BaseModel):
            shown = ""
        else:
            shown = "" if default in (None, (), {}) else f"`{str(default).lower() if default is not None else ''}`"
        takes = "see below" if isinstance(default, BaseModel) else KINDS.get(name, kind(hints[name]))
        if model is schema.Joint:
            takes = kind(hints[name])
        rows.append((f"`{name}`", takes + _limits(field.metadata), shown, field.description or ""))
    return table(("key", "takes", "default", "meaning"), rows)


def _limits(metadata: Iterable[Any]) -> str:
    signs = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    said = [
        f"{words} {getattr(each, sign)}" for each in metadata for sign, words in signs.items() if hasattr(each, sign)
    ]
    return f", {', '.join(said)}" if said else ""


def policy() -> str:
    """Every key of a policy file."""
    parts = [
        "A policy is a YAML file. Unknown keys are faults; every fault is reported at once, with line, rule and "
        "remedy. "
        "How hierarchies are written: [Write a hierarchy](../how-to/hierarchies.md).",
    ]
    for title, (model, words) in PARTS.items():
        parts.append(f"## {title}\n\n{words}\n\n{keys_of(model)}")
    return page("Policy file", *parts)


def methods() -> str:
    """Every method with its options."""
    parts = ["`method: {name: NAME, option: value}` in the policy. `polyveil methods NAME` prints the same."]
    for name in METHODS:
        method = method_class(name)
        about = (
            f"## {name}\n\n{method.title}. [More](../methods/{PAGE_OF_METHOD[name]}.md).\n\n"
            f"- Guarantee: {method.guarantee}\n- Cost: {method.cost}\n- Source: {method.paper}\n"
            f"- Releases: {', '.join(method.forms)}"
        )
        options = keys_of(method.options_type) if method.options_type.model_fields else "It has no options."
        parts += [about, options, *_departures(name)]
    return page("Methods and their options", *parts)


def _departures(name: str) -> list[str]:
    """What `as_printed: true` undoes; methods with the same departures refer to the first of them."""
    if name not in DEPARTURES:
        return []
    first = next(other for other in DEPARTURES if DEPARTURES[other] is DEPARTURES[name])
    if first != name:
        return [f"Departures from the paper: those of [{first}](#{first})."]
    return ["Departures from the paper, undone by `as_printed: true`:", departures_table(name)]


def guarantees() -> str:
    """Every privacy model."""
    parts = ["What they mean together: [Guarantees](../concepts/models.md). `polyveil models` prints the same."]
    parts += [
        f"## {model.title}\n\n- Asked for with: `{model.parameter}`; "
        f"the figure of every group is {model.direction} the threshold\n"
        f"- Helps against: {model.helps_against}\n- Leaves open: {model.leaves_open}\n- Source: {model.source}"
        for model in MODELS.values()
    ]
    return page("Guarantees", *parts)


def figures() -> str:
    """Every figure that is measured of a release."""
    rows = []
    for metric in METRICS.values() if isinstance(METRICS, Mapping) else METRICS:
        top = "" if metric.high is None else f" to {metric.high:g}"
        rows.append((f"`{metric.name}`", metric.better, f"from {metric.low:g}{top}", metric.unit, metric.description))
    return page("Figures", table(("figure", "better", "range", "unit", "meaning"), rows))


def python() -> str:
    """Names for use from Python."""
    parts = [
        "All names are in `polyveil` itself; what is not named here may change without notice. Every result has an "
        "`outcome` (holds, fails or not checked), `holds`, which is true for the first alone, `answer()`, `to_dict()` "
        "and `to_frame()`. A result has no truth value: `if polyveil.verify(x):` is an error that says to use `.holds`."
    ]
    for title, names in PYTHON.items():
        parts.append(f"## {title}")
        parts += [_python_name(name, getattr(polyveil, name)) for name in names]
    return page("Python", *parts)


def _python_name(name: str, thing: Any) -> str:
    text = inspect.cleandoc(thing.__doc__ or "")
    if not inspect.isclass(thing):
        return f"### {name}\n\n```text\n{name}{_signature(thing)}\n```\n\n{_numpydoc(text)}"
    members = []
    own = [base for base in reversed(thing.__mro__) if base.__module__.startswith("polyveil.")]
    for each, value in {name: value for base in own for name, value in vars(base).items()}.items():
        if each.startswith(("_", "model_")) or not isinstance(value, property | types.FunctionType | classmethod):
            continue
        about = inspect.getdoc(value.fget if isinstance(value, property) else value)
        if not about:
            continue
        call = "" if isinstance(value, property) else "()"
        members.append(f"- `{each}{call}`: {about.splitlines()[0]}")
    return "\n\n".join(part for part in (f"### {name}", text, "\n".join(members)) if part)


def _numpydoc(text: str) -> str:
    """A numpydoc docstring as Markdown: sections in bold, parameters as a list, the example as code."""
    lines, section = [], ""
    for line, after in zip([*text.splitlines(), ""], [*text.splitlines()[1:], "", ""], strict=True):
        if after and set(after) == {"-"}:
            section = line
            lines += [f"**{line}**", ""]
        elif line and set(line) == {"-"}:
            lines += ["```pycon"] if section == "Examples" else []
        elif not section or section == "Examples":
            lines.append(line)
        elif line.startswith(" "):
            lines[-1] += f" {line.strip()}"
        elif line:
            head, _, kind = line.partition(" : ")
            lines.append(f"- `{head}`" + (f" ({kind}):" if kind else ":"))
        else:
            lines.append("")
    if section == "Examples":
        lines[-1] = "```"
    return re.sub("(?<!`)``(?!`)", "`", "\n".join(lines))


def _signature(thing: Any) -> str:
    """One parameter per line, with its type as it is written in the code."""
    lines = []
    starred = False
    for each in inspect.signature(thing).parameters.values():
        if each.kind is each.KEYWORD_ONLY and not starred:
            lines.append("    *,")
            starred = True
        given = each.default is not each.empty
        plain = isinstance(each.default, str | int | float | tuple | types.NoneType)
        default = f" = {each.default!r}" if given and plain else " = ..." if given else ""
        lines.append(f"    {each.name}: {each.annotation}{default},")
    return "(\n" + "\n".join(lines) + "\n)"


if __name__ == "__main__":
    main()
