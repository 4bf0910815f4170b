"""`fiador calibrate SET…`: the threshold that parts questions with an answer from those without."""

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from golden import calibrate, plot
from golden.calibrate import Separations
from proxy.commands.console import print_json
from proxy.commands.evaluation import EvaluationTrial, evaluate_on_deployment, open_trial_deployment
from proxy.commands.root import JSON_OPTION, SETS_ARGUMENT, load_context_settings, run_coroutine
from proxy.domain.errors import ConfigError
from proxy.settings import lock
from proxy.settings.lock import ThresholdLock
from proxy.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was found, and what `threshold.lock.toml` is to say of it."""

    separations: Separations
    lock: ThresholdLock

    def print_separations(self, *, as_json: bool) -> None:
        """Prints a table and sentences, or the figures for programs."""
        print_json(calibrate.build_separation_data(self.separations)) if as_json else click.echo(
            calibrate.render_separations(self.separations)
        )

    def write_lock(self, settings: Settings) -> Path:
        """Writes the lock beside the configuration; its path."""
        path = settings.folder / lock.LOCK_FILE_NAME
        path.write_text(lock.render_lock(self.lock), "utf-8")
        return path

    def write_plot(self, path: Path) -> None:
        """Draws the similarities as SVG."""
        path.write_text(plot.render_svg(self.separations), "utf-8")

    @property
    def has_all_thresholds(self) -> bool:
        """Whether there are rows, and every one has a threshold."""
        return bool(self.separations) and not any(
            row.explanation for rows in self.separations.values() for row in rows.values()
        )


async def calibrate_thresholds(
    settings: Settings, sets: tuple[Path, ...], *, will_write: bool
) -> Calibration:
    """Looks for a threshold per assistant and language, with the configured embedding.

    Raises `ConfigError` for what is to be written and was not measured with the embedding that is meant.
    """
    async with open_trial_deployment(settings, EvaluationTrial()) as deployment:
        if will_write and (degraded := deployment.evidence.degraded):
            raise ConfigError(
                f"--write: {degraded}. Thresholds of keywords alone would not hold once it serves; "
                '`embedding.model = "off"` says that keywords alone are meant'
            )
        separations = calibrate.separate_report(await evaluate_on_deployment(deployment, sets, live=False))
        state = await deployment.evidence.store.read_state()
        embedder = deployment.evidence.embedder
    generation = f"{state.epoch}/{state.generation}"
    model = embedder.name if embedder else ""
    threshold_lock = calibrate.build_lock(
        separations, model=model, generation=generation, date=_format_today()
    )
    return Calibration(separations, threshold_lock)


def _format_today() -> str:
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
    calibration = run_coroutine(calibrate_thresholds(settings, sets, will_write=options["write"]))
    calibration.print_separations(as_json=options["as_json"])
    if options["picture"]:
        calibration.write_plot(options["picture"])
    if options["write"]:
        click.echo(f"written: {calibration.write_lock(settings)}", err=True)
    sys.exit(0 if calibration.has_all_thresholds else 1)
