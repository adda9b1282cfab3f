"""The files around the code: workflows, image, version, changelog - that they fit each other and what they name."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from polyveil.cli import app
from polyveil.version import __version__

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import release  # noqa: E402

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def loaded(file: Path) -> Any:
    return YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))


def steps(workflow: Path) -> list[dict[str, Any]]:
    return [step for job in loaded(workflow)["jobs"].values() for step in job["steps"]]


def test_there_is_a_workflow_for_tests_docs_and_releases() -> None:
    assert [file.stem for file in WORKFLOWS] == ["docs", "release", "tests"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_pins_its_actions_and_has_few_rights(workflow: Path) -> None:
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []
    assert loaded(workflow)["permissions"] == {"contents": "read"}
    # What comes from outside reaches a shell as a variable, never as text.
    assert [step["run"] for step in steps(workflow) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.stem)
def test_what_a_workflow_runs_is_there(workflow: Path) -> None:
    text = "\n".join(step.get("run", "") for step in steps(workflow))
    files = re.findall(r"(?<![\w/])(?:\.ci|tools)/[\w.]+", text)
    assert [name for name in files if not (ROOT / name).is_file()] == []
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"make ([a-z]+)|\.ci/run +([a-z]+)", text)) <= {
        pair for target in targets for pair in ((target, ""), ("", target))
    }


def test_the_tests_run_on_every_python_that_is_promised() -> None:
    promised = {text.rsplit(" ", 1)[1] for text in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", text)}
    jobs = loaded(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]
    assert set(jobs["pinned"]["strategy"]["matrix"]["python"]) == promised
    assert PROJECT["project"]["requires-python"] == f">={min(promised, key=lambda name: int(name.split('.')[1]))}"
    assert {"lowest", "latest"} <= set(jobs)


def test_only_the_job_that_publishes_may_sign() -> None:
    jobs = loaded(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]
    assert [step for step in jobs["publish"]["steps"] if "run" in step] == []
    assert jobs["publish"]["needs"] == "build"


@pytest.mark.parametrize("form", FORMS, ids=lambda file: file.stem)
def test_issue_forms_are_complete(form: Path) -> None:
    about = loaded(form)
    if form.stem != "config":
        assert {"name", "description", "body"} <= set(about)
        assert all(part["type"] == "markdown" or part["attributes"]["label"] for part in about["body"])


def test_what_pre_commit_runs_is_there() -> None:
    (repo,) = loaded(ROOT / ".pre-commit-config.yaml")["repos"]
    named = re.findall(r"tests/\w+\.py", " ".join(hook["entry"] for hook in repo["hooks"]))
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_the_version_has_one_home() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/polyveil/version.py"
    assert "version" not in loaded(ROOT / "CITATION.cff")
    assert release.version() == __version__


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert sections[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", name) for name in sections[1:])
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= kinds


def test_a_tag_is_released_only_if_version_and_changelog_agree() -> None:
    dated = f"## [{__version__}] - 2026-01-31\n"
    assert release.faults(f"v{__version__}", dated) == []
    assert len(release.faults(f"v{__version__}", "## [Unreleased]\n")) == 1
    assert len(release.faults("v99.0.0", dated)) == 2


def test_the_image_uses_files_and_commands_that_are_there() -> None:
    lines = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()
    instructions = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    known = {"FROM", "ENV", "ARG", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in instructions} <= known
    kept = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE))
    copied = [name for key, rest in instructions if key == "COPY" for name in rest.split()[:-1]]
    assert [name for name in copied if not (ROOT / name).exists() or name not in kept] == []
    commands = {command.callback.__name__ for command in app.registered_commands if command.callback}
    ran = {name for key, rest in instructions if key == "RUN" for name in re.findall(r"polyveil (\w+)", rest)}
    assert ran <= commands
    assert "warmup" in ran
    extras = re.findall(r'"\.\[(.+?)\]"', "".join(rest for key, rest in instructions if key == "RUN"))
    assert set(extras[0].split(",")) <= set(PROJECT["project"]["optional-dependencies"])
    assert instructions[-3][0] == "WORKDIR"
    assert [rest for key, rest in instructions if key == "USER"] == ["steward"]


def test_pinned_versions_are_allowed_by_the_project() -> None:
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split())
    pinned = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pinned.items()}
    wanted = list(PROJECT["project"]["dependencies"])
    for extra in PROJECT["project"]["optional-dependencies"].values():
        wanted += extra
    names = [re.match(r"[\w.-]+", each) for each in wanted]
    missing = {re.sub(r"[-_.]+", "-", name[0]).lower() for name in names if name} - set(pinned) - {"polyveil"}
    assert missing == set()
