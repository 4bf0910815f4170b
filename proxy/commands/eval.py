"""`fiador eval SET…`: golden cases graded through the real pipeline."""

import sys
from pathlib import Path
from typing import Any

import click

from proxy.commands import evaluation
from proxy.commands.root import JSON_OPTION, SETS_ARGUMENT, load_context_settings, run_coroutine


@click.command("eval")
@SETS_ARGUMENT
@click.option("--live", is_flag=True, help="Ask the configured upstreams; this costs what they cost.")
@click.option(
    "--embedding",
    type=click.Choice(["configured", "off", "stand-in"]),
    default="configured",
    show_default=True,
    help="`stand-in`: a bag of tokens, without learned meaning.",
)
@JSON_OPTION
@click.pass_context
def eval_command(context: click.Context, /, sets: tuple[Path, ...], **options: Any) -> None:
    """Grade golden cases; exit 1 if one is wrong."""
    trial = evaluation.EvaluationTrial(options["embedding"], options["live"])
    settings = load_context_settings(context)
    sys.exit(run_coroutine(evaluation.run_evaluation(settings, sets, trial, as_json=options["as_json"])))
