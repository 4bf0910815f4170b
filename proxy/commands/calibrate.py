"""`fiador calibrate SET…`: the threshold that parts questions with an answer from those without."""

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from golden import calibrate, plot
from golden.calibrate import Separations
from proxy.commands.console import say_json
from proxy.commands.evaluation import Trial, _evaluated, _services
from proxy.commands.root import JSON_OPTION, SETS_ARGUMENT, load_context_settings, run_coroutine
from proxy.domain.errors import ConfigError
from proxy.settings import lock
from proxy.settings.lock import Lock
from proxy.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was found, and what `threshold.lock.toml` is to say of it."""

    found: Separations
    lock: Lock

    def tell(self, *, as_json: bool) -> None:
        """Prints the separations."""
        say_json(calibrate.data(self.found)) if as_json else click.echo(calibrate.text(self.found))

    def keep(self, settings: Settings) -> Path:
        """Writes the lock beside the configuration."""
        path = settings.folder / lock.NAME
        path.write_text(lock.dump(self.lock), "utf-8")
        return path

    def draw(self, path: Path) -> None:
        """Draws the similarities as SVG."""
        path.write_text(plot.svg(self.found), "utf-8")

    @property
    def separates(self) -> bool:
        """Whether there are rows, and every one has a threshold."""
        return bool(self.found) and not any(row.why for rows in self.found.values() for row in rows.values())


async def calibrated(settings: Settings, sets: tuple[Path, ...], *, writing: bool) -> Calibration:
    """Looks for a threshold per assistant and language, with the configured embedding.

    Raises `ConfigError` for what is to be written and was not measured with the embedding that is meant.
    """
    async with _services(settings, Trial()) as services:
        if writing and (why := services.evidence.degraded):
            raise ConfigError(
                f"--write: {why}. Thresholds of keywords alone would not hold once it serves; "
                '`embedding.model = "off"` says that keywords alone are meant'
            )
        found = calibrate.separations(await _evaluated(services, sets, live=False))
        state = await services.evidence.store.read_state()
        embedder = services.evidence.embedder
    generation = f"{state.epoch}/{state.generation}"
    model = embedder.name if embedder else ""
    return Calibration(found, calibrate.lock(found, model=model, generation=generation, date=_today()))


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@click.command("calibrate")
@SETS_ARGUMENT
@click.option("--write", is_flag=True, help="Write threshold.lock.toml beside the configuration.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the similarities as SVG.")
@JSON_OPTION
@click.pass_context
def calibrate_command(context: click.Context, /, sets: tuple[Path, ...], **options: Any) -> None:
    """Find the threshold that parts answers from refusals."""
    settings = load_context_settings(context)
    done = run_coroutine(calibrated(settings, sets, writing=options["write"]))
    done.tell(as_json=options["as_json"])
    if options["picture"]:
        done.draw(options["picture"])
    if options["write"]:
        click.echo(f"written: {done.keep(settings)}", err=True)
    sys.exit(0 if done.separates else 1)
