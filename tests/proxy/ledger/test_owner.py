"""ledger.owner: dead only where that is certain."""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.ledger import owner
from proxy.ledger.owner import Owner

HERE = Owner.read_current()


def test_a_living_process_is_not_dead_and_its_name_is_read_back() -> None:
    assert not HERE.is_dead(HERE)
    assert Owner.parse(str(HERE)) == HERE
    assert Owner.read_current() == HERE


async def test_a_process_that_has_ended_is_dead_also_before_it_is_reaped() -> None:
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=-1)
    alive = replace(HERE, pid=child.pid, started=str(owner._read_start_ticks(child.pid)))
    assert not alive.is_dead(HERE)
    child.kill()
    await child.wait()
    assert alive.is_dead(HERE)


def test_another_process_under_the_same_number_is_not_the_same() -> None:
    assert replace(HERE, started="1").is_dead(HERE)


def test_everything_from_before_a_reboot_is_dead() -> None:
    assert replace(HERE, boot="another").is_dead(HERE)


def test_of_another_container_or_without_proc_nothing_is_certain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not replace(HERE, space="another", pid=1, started="1").is_dead(HERE)
    monkeypatch.setattr(owner, "PROC", tmp_path)
    blind = Owner.read_current()
    assert (blind.boot, blind.pid) == ("", os.getpid())
    assert not HERE.is_dead(blind)
    assert not blind.is_dead(HERE)


@pytest.mark.parametrize("text", ["", "a~b~c~d", "a~b~1"])
def test_what_is_no_owner_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"invalid|unpack"):
        Owner.parse(text)
