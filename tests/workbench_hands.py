"""Two ways to work in a browser: by mouse, or by keyboard alone, where only Tab finds the way."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

MOST_TABS = 250
WAY = """here => {
  const now = document.activeElement;
  if (here.contains(now)) return "";
  return now.compareDocumentPosition(here) & Node.DOCUMENT_POSITION_PRECEDING ? "Shift+Tab" : "Tab";
}"""
"""The key that leads from the focus to an element, nothing where it is there."""
FOCUSED = ".q-menu [role=option].q-manual-focusable--focused"


class Mouse:
    """Clicks at what is seen. Texts are typed."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, target: Locator) -> None:
        """Use a button, a link, a switch or a box."""
        target.click()

    def write(self, target: Locator, text: str) -> None:
        """Put a text into a field in place of what is there."""
        self.press(target)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, target: Locator, option: str) -> None:
        """One of the options of a list that opens."""
        target.click()
        self.page.get_by_role("option", name=option).click()

    def choose_role(self, column: str, number: int) -> None:
        """The role of a column, by its number from 1 to 7."""
        self.page.get_by_role("radiogroup", name=f"Role of {column}", exact=True).get_by_role("radio").nth(
            number - 1
        ).click()


class Keyboard(Mouse):
    """Never clicks, and never sets the focus itself."""

    def reach(self, target: Locator) -> None:
        """Press Tab, or Shift+Tab where the target is before the focus, until the target has the focus."""
        expect(target).to_be_visible()
        for _ in range(MOST_TABS):
            key = target.evaluate(WAY)
            if not key:
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"Tab does not lead to {target}")

    def press(self, target: Locator) -> None:
        self.reach(target)
        kind = target.evaluate("here => here.type === 'checkbox' || here.getAttribute('role') === 'switch'")
        self.page.keyboard.press("Space" if kind else "Enter")

    def write(self, target: Locator, text: str) -> None:
        self.reach(target)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, target: Locator, option: str) -> None:
        self.reach(target)
        wanted = self.page.get_by_role("option", name=option)
        self.page.keyboard.press("ArrowDown")
        expect(wanted).to_be_visible()
        for _ in range(wanted.page.get_by_role("option").count() + 1):
            focused = self.page.locator(FOCUSED)
            if focused.count() and option in focused.inner_text():
                break
            self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Enter")

    def choose_role(self, column: str, number: int) -> None:
        self.reach(self.page.get_by_role("radiogroup", name=f"Role of {column}", exact=True))
        self.page.keyboard.press(str(number))


HANDS: dict[str, Any] = {"mouse": Mouse, "keyboard": Keyboard}
