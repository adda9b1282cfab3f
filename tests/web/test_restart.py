"""Restart, lost connection, two people: an old tab comes back to its view, nothing is lost, never raw JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="the workbench needs the web extra")
pytest.importorskip("playwright", reason="the pages are driven with playwright")

import httpx2 as httpx
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from workbench_server import TOKEN, Server, running
from workbench_steps import WAIT


def test_an_old_tab_says_what_to_do_and_comes_back_to_its_view(tmp_path: Path, chromium: Browser) -> None:
    with chromium.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(WAIT)
        with running(tmp_path) as server:
            upload = {"file": ("people.csv", b"age,ill\n30,flu\n31,gout\n")}
            headers = {"Authorization": f"Bearer {TOKEN}"}
            table = httpx.post(f"{server.url}/api/tables/upload", files=upload, headers=headers, timeout=60).json()[
                "id"
            ]
            page.goto(f"{server.url}/?token={TOKEN}")
            page.goto(f"{server.url}/columns/{table}")
            heading = page.get_by_role("heading", name="What do the columns contain?")
            expect(heading).to_be_visible()
            for wrong in (f"/columns/{table}/first", "/api/tables/none/rows", "/nothing"):
                page.goto(f"{server.url}{wrong}")
                assert "{" not in page.locator("body").inner_text()
            page.goto(f"{server.url}/columns/{table}")
            expect(heading).to_be_visible()
        with running(tmp_path, port=server.port, token="another") as again:
            expect(page.get_by_text("Open the address that polyveil serve printed last")).to_be_visible()
            context.new_page().goto(f"{again.url}/?token=another")
            expect(heading).to_be_visible()
            assert page.url.endswith(f"/columns/{table}")


def table_of(server: Server, content: bytes = b"age,ill\n30,flu\n31,gout\n") -> str:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = httpx.post(
        f"{server.url}/api/tables/upload", files={"file": ("people.csv", content)}, headers=headers, timeout=60
    )
    return str(answer.json()["id"])


def role(page: Page, column: str, name: str) -> Locator:
    return page.get_by_role("radiogroup", name=f"Role of {column}").get_by_role("radio", name=name, exact=True)


def visit(context: BrowserContext, server: Server, address: str) -> Page:
    page = context.new_page()
    page.set_default_timeout(WAIT)
    page.goto(f"{server.url}/?token={TOKEN}")
    page.goto(f"{server.url}{address}")
    return page


def test_what_is_chosen_while_the_connection_is_lost_is_saved_later(server: Server, chromium: Browser) -> None:
    """Also where the tab is loaded again in between."""
    table = table_of(server)
    with chromium.new_context() as context:
        page = visit(context, server, f"/columns/{table}")
        expect(role(page, "ill", "Drop")).to_be_visible()
        page.route("**/roles", lambda route: route.abort())
        role(page, "ill", "Drop").click()
        expect(page.get_by_role("alert")).to_contain_text("Your changes are kept in this tab")
        assert "{" not in page.locator("main").last.inner_text()
        expect(role(page, "ill", "Drop")).to_have_attribute("aria-checked", "true")
        page.unroute("**/roles")
        page.reload()
        expect(role(page, "ill", "Drop")).to_have_attribute("aria-checked", "true")
        expect(page.locator(".pv-window[aria-busy=true]")).to_have_count(0)
        with chromium.new_context() as other:
            expect(role(visit(other, server, f"/columns/{table}"), "ill", "Drop")).to_have_attribute(
                "aria-checked", "true"
            )


def test_the_next_page_is_drawn_once_whatever_is_still_being_saved(server: Server, chromium: Browser) -> None:
    """A page drawn before a role is saved would load itself again, perhaps under a click."""
    table = table_of(server)
    with chromium.new_context() as context:
        page = visit(context, server, f"/columns/{table}")
        sent = []
        page.route("**/roles", lambda route: sent.append(route))
        role(page, "ill", "Sensitive").click()
        page.get_by_role("link", name="Continue to Privacy").click()
        page.wait_for_timeout(1000)
        sent[0].continue_()
        more = page.get_by_text("More guarantees")
        more.click()
        page.evaluate("window.drawnOnce = true")
        page.get_by_role("switch", name="Require Hide among similar rows (k)").click()
        page.wait_for_timeout(1500)
        assert page.evaluate("window.drawnOnce")
        expect(page.locator(".q-expansion-item--expanded")).to_be_visible()


def test_two_people_work_on_one_table_and_neither_overwrites_the_other(server: Server, chromium: Browser) -> None:
    """Each in a browser of their own: roles of one and requirements of the other are both in the policy."""
    table = table_of(server, b"age,town,ill\n" + b"\n".join(b"%d,Cork,flu" % (20 + i) for i in range(30)))
    with chromium.new_context() as one, chromium.new_context() as two:
        first, second = visit(one, server, f"/columns/{table}"), visit(two, server, f"/privacy/{table}")
        number = second.get_by_label("Hide among similar rows (k), as a number")
        expect(number).to_be_visible()
        role(first, "town", "Insensitive").click()
        expect(first.locator(".pv-window[aria-busy=true]")).to_have_count(0)
        second.wait_for_timeout(1500)  # the second page notices and draws itself again
        expect(number).to_be_visible()
        number.fill("7")
        number.press("Tab")
        expect(second.get_by_text("at least 7 rows").first).to_be_visible()
        role(first, "ill", "Sensitive").click()
        expect(first.locator(".pv-window[aria-busy=true]")).to_have_count(0)
        policy = (server.folder / "state" / "tables" / table / "draft.json").read_text()
        assert '"k": 7' in policy
        second.goto(f"{server.url}/columns/{table}")
        expect(role(second, "town", "Insensitive")).to_have_attribute("aria-checked", "true")
        expect(role(second, "ill", "Sensitive")).to_have_attribute("aria-checked", "true")


def test_a_table_that_somebody_deleted_is_one_clear_sentence(server: Server, chromium: Browser) -> None:
    table = table_of(server)
    with chromium.new_context() as context:
        page = visit(context, server, f"/columns/{table}")
        expect(role(page, "ill", "Drop")).to_be_visible()
        headers = {"Authorization": f"Bearer {TOKEN}"}
        httpx.delete(f"{server.url}/api/tables/{table}", headers=headers, timeout=60).raise_for_status()
        role(page, "ill", "Drop").click()
        expect(page.get_by_role("alert")).not_to_be_empty()
        assert "{" not in page.get_by_role("alert").inner_text()
        page.reload()
        expect(page.get_by_text("This table no longer exists")).to_be_visible()
