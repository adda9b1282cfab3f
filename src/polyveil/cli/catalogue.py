"""`polyveil methods` and `polyveil models`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from polyveil.cli.frame import print_json, reported_errors

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def methods(
    name: Annotated[str | None, typer.Argument(help="Show one method with its options.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods: what each one guarantees, how long it takes, and its options."""
    with reported_errors(as_json=as_json):
        from polyveil.methods import METHODS, method_class

        chosen = [method_class(name)] if name else [method_class(each) for each in METHODS]
        about = [
            {
                "name": method.name,
                "title": method.title,
                "guarantee": method.guarantee,
                "cost": method.cost,
                "paper": method.paper,
                "forms": list(method.forms),
                "options": _options(method.options_type),
            }
            for method in chosen
        ]
        if as_json:
            print_json({"methods": about})
        else:
            _show_methods(about, with_options=name is not None)


def _options(options: Any) -> dict[str, Any]:
    schema = options.model_json_schema()["properties"] if options.model_fields else {}
    return {
        name: {
            "default": schema.get(name, {}).get("default"),
            "description": field.description or "",
            "schema": schema.get(name, {}),
        }
        for name, field in options.model_fields.items()
    }


def _show_methods(about: list[dict[str, Any]], *, with_options: bool) -> None:
    from polyveil.cli.show import console

    out = console()
    for method in about:
        out.print(f"[bold]{method['name']}[/]  {method['title']}")
        out.print(f"    {method['guarantee']} {method['cost']}", style="dim")
        out.print(f"    {method['paper']}; releases: {', '.join(method['forms'])}", style="dim")
        for name, option in method["options"].items() if with_options else ():
            out.print(f"    {name} (default {option['default']}): {option['description']}")
    if not with_options:
        out.print("\n`polyveil methods NAME` shows the options of a method.")


def models(as_json: AsJson = False) -> None:
    """List the privacy models: what each one requires, which attack it helps against, what it does not cover."""
    with reported_errors(as_json=as_json):
        from polyveil.models import MODELS

        about = [
            {
                "name": key,
                "title": model.title,
                "helps_against": model.helps_against,
                "leaves_open": model.leaves_open,
                "monotone": model.monotone,
            }
            for key, model in MODELS.items()
        ]
        if as_json:
            print_json({"models": about})
            return
        from polyveil.cli.show import console

        out = console()
        for model in about:
            out.print(f"[bold]{model['name']}[/]  {model['title']}")
            out.print(f"    [green]helps against[/]  {model['helps_against']}")
            out.print(f"    [yellow]does not cover[/] {model['leaves_open']}")
