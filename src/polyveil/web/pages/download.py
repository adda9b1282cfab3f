"""Download: the release folder, the policy, the report, and the command line that makes the run again."""

from __future__ import annotations

import shlex

from nicegui import ui

from polyveil.web.pages.layout import next_step, table_page
from polyveil.web.pages.page_context import Work, Workbench
from polyveil.web.pages.parts import card, copy_button, stack, text
from polyveil.web.pages.runs import choose_run
from polyveil.web.store import StoredRun


def add(bench: Workbench) -> None:
    """Register the view."""

    @ui.page("/download/{table_id}")
    def download(table_id: str, run: str | None = None) -> None:
        async def build(work: Work) -> None:
            _build(work, run)

        table_page(bench, "download", table_id, build)


def command_line(run: StoredRun) -> str:
    """The commands that make this run again, with the policy file that is downloaded here."""
    seed = "" if run.seed is None else f" --seed {run.seed}"
    data = shlex.quote(run.table_name)
    return f"polyveil anonymize {data} --policy policy.yaml --out release{seed}\npolyveil verify release"


def _build(work: Work, wanted: str | None) -> None:
    text("Download", "h1", "pv-h1")
    _, run = choose_run(work, "download", wanted, f"/download/{work.stored.id}?run=")
    if run is None:
        return
    with ui.element("div").classes("pv-columns pv-two"):
        with stack():
            _files(run)
            _again(run)
        with card("Policy"):
            text(
                "All your settings. Open the file again in Columns, or use it on the command line.",
                classes="pv-hint",
            )
            copy_button(run.policy, "Copy the policy")
            text(run.policy, "pre", "pv-code pv-yaml").props('tabindex=0 aria-label="Policy file"')
    next_step("download", work.stored.id)


def _files(run: StoredRun) -> None:
    with card("Files", "The release was verified from its files before it appeared here."):
        file_item(
            "Release folder",
            "what you publish: tables, manifest, report",
            f"/api/runs/{run.id}/bundle",
            "release.zip",
            main=True,
        )
        file_item("Policy", "to run it again, here or elsewhere", f"/api/runs/{run.id}/policy", "policy.yaml")
        if (run.bundle / "report.html").is_file():
            file_item(
                "Report",
                "guarantees, detail lost, and what is not covered",
                f"/api/runs/{run.id}/report",
                "report.html",
            )
        text("The group of each original row is not part of the release and stays on this machine.", classes="pv-hint")


def file_item(title: str, hint: str, address: str, name: str, *, main: bool = False) -> None:
    """A file with what it is for, and the button that downloads it."""
    with ui.element("div").classes("pv-item"):
        with stack("pv-grow pv-tight"):
            text(title, "h3", "pv-h3")
            text(hint, classes="pv-hint")
        link = text(name, "a", "pv-button" if main else "pv-button pv-second")
        link.props(f'href="{address}" download="{name}" aria-label="Download {name}"')


def _again(run: StoredRun) -> None:
    command = command_line(run)
    with card("The same on the command line"):
        text(command, "pre", "pv-code").props('tabindex=0 aria-label="Command line"')
        copy_button(command, "Copy the commands")
        text(
            "Rows are released in a new random order each time. "
            "Groups and detail lost are the same with the same seed.",
            classes="pv-hint",
        )
