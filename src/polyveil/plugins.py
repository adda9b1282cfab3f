"""What installed packages add: entry points, looked up when they are first needed and loaded one by one.

A package that does not load is reported with its name and left out. Nothing is weaker for it: what it would have added
is then unknown, and a policy that asks for something unknown is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from polyveil.errors import InputError

T = TypeVar("T")


class PluginError(InputError):
    """Something an installed package adds cannot be used."""


@cache
def _points(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=group)}


@cache
def _load(group: str, name: str) -> Any:
    """What an installed package offers under a name; the exception itself, kept, if it cannot be loaded."""
    point = _points(group)[name]
    try:
        return point.load()
    except Exception as error:
        package = point.dist.name if point.dist else point.module
        what = f"{name!r} of the package {package} ({group}, {point.value}) cannot be loaded"
        return PluginError(f"{what}: {type(error).__name__}: {error}. Repair, update or remove the package")


def installed(group: str) -> Iterator[tuple[str, Any]]:
    """Everything installed packages offer in a group that loads; warns about the rest."""
    for name in _points(group):
        found = _load(group, name)
        if isinstance(found, PluginError):
            warnings.warn(str(found), stacklevel=2)
        else:
            yield name, found


class Registry(Mapping[str, T], Generic[T]):
    """Things by name: polyveil's own (a class, or where to import it from), those added by a call, those installed.

    `check` returns what is wrong with a thing that comes from outside, or an empty text.
    """

    def __init__(self, group: str, own: Mapping[str, T | str], check: Callable[[str, Any], str]) -> None:
        self.group = group
        self._own = dict(own)
        self._check = check

    def add(self, name: str, item: T) -> None:
        """Add one by a call; adding the same one again changes nothing."""
        if name in self._own and self[name] is not item:
            raise PluginError(f"there is already a {name!r} in {self.group}. Choose another name")
        wrong = "" if name in self._own else self._check(name, item)
        if wrong:
            raise PluginError(f"{name!r} cannot be added to {self.group}: {wrong}")
        self._own[name] = item

    @contextmanager
    def having(self, name: str, item: T) -> Iterator[None]:
        """Have one for a while, as if it had been added; for trying one that is not installed."""
        known = name in self._own
        self.add(name, item)
        try:
            yield
        finally:
            if not known:
                del self._own[name]

    def __getitem__(self, name: str) -> T:
        item: Any = self._own.get(name)
        if isinstance(item, str):
            module, attribute = item.split(":")
            item = self._own[name] = getattr(import_module(module), attribute)
        if item is None:
            if name not in _points(self.group):
                raise KeyError(name)
            item = _load(self.group, name)
            if isinstance(item, PluginError):
                raise item
            self.add(name, item)
        return item  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        """The names of all that can be used; warns about installed ones that cannot."""
        yield from list(self._own)
        for name, item in installed(self.group):
            if self._own.get(name) is item:
                continue
            try:
                self.add(name, item)
            except PluginError as error:
                warnings.warn(str(error), stacklevel=2)
            else:
                yield name

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in _points(self.group)

    def __len__(self) -> int:
        return sum(1 for _ in self)
