"""Every command on a small deployment; bad input says what was wrong, where, and what to do."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from proxy.commands.root import main
from proxy.settings import lock
from tests.proxy.deployment import QUESTION, run_fiador


def test_sync_then_ask_answers_and_explains(config: Path) -> None:
    assert "2 added" in run_fiador(config, "sync").output
    done = run_fiador(config, "ask", QUESTION, "--model", "quoting", "--explain")
    assert done.exit_code == 0, done.output
    assert "opens at 9:30" in done.output
    for told in ("decision", "similarity", "threshold", "Opening hours", "held", "charged"):
        assert told in done.output


def test_ask_as_a_group_sees_what_the_group_may_see(config: Path) -> None:
    run_fiador(config, "sync")
    question = "How high is the staff bonus for the reading room?"
    assert "350" not in run_fiador(config, "ask", question, "--model", "quoting").output
    assert "350" in run_fiador(config, "ask", question, "--model", "quoting", "--as", "staff").output


def test_a_dry_run_goes_up_to_the_upstream_and_not_further(config: Path) -> None:
    run_fiador(config, "sync")
    done = run_fiador(config, "ask", QUESTION, "--dry-run")
    assert done.exit_code == 0
    assert "would go to `openai`" in done.output
    assert "try again" not in done.output
    explained = run_fiador(config, "ask", QUESTION, "--dry-run", "--explain")
    assert "handbook/hours.md" in explained.output


def test_an_empty_question_is_bad_input(config: Path) -> None:
    assert run_fiador(config, "ask", "  ").exit_code == 2


def test_ask_as_json_holds_the_whole_trace(config: Path) -> None:
    run_fiador(config, "sync")
    done = run_fiador(config, "ask", QUESTION, "--model", "quoting", "--json")
    told = json.loads(done.output)
    assert told["trace"]["decision"] == "answered"
    assert told["trace"]["sources"][0]["document"] == "handbook/hours.md"


def test_a_key_is_shown_once_listed_without_its_text_and_revoked(config: Path) -> None:
    secret = run_fiador(
        config, "keys", "create", "ada", "--groups", "staff,public", "--usd-month", "5", "--usd-day", "0.5"
    ).output.strip()
    listed = json.loads(run_fiador(config, "keys", "list", "--json").output)
    assert secret.startswith("fiador_")
    assert secret not in json.dumps(listed)
    assert (listed[0]["name"], listed[0]["groups"], listed[0]["state"]) == ("ada", "public, staff", "live")
    assert (listed[0]["cap_usd_month"], listed[0]["cap_usd_day"]) == ("5.00", "0.50")
    assert run_fiador(config, "keys", "revoke", listed[0]["id"]).exit_code == 0
    assert "revoked" in run_fiador(config, "keys", "list").output
    assert run_fiador(config, "keys", "revoke", listed[0]["id"]).exit_code == 2


def test_a_group_that_grants_nothing_is_said_when_the_key_is_made(config: Path) -> None:
    named = 'mode = "keys"\ngroups = { staff = ["staff"] }'
    config.write_text(config.read_text("utf-8").replace('mode = "keys"', named), "utf-8")
    done = run_fiador(config, "keys", "create", "ada", "--groups", "staff,staf")
    assert "does not name `staf`" in done.stderr
    assert "`staff`" not in done.stderr


@pytest.mark.parametrize(
    "wrong",
    ["--usd-month=-1", "--usd-day=nan", "--usd-month=inf", "--days=0", "--days=1e12", "--scopes=root"],
)
def test_a_key_that_could_not_be_meant_is_not_made(config: Path, wrong: str) -> None:
    assert run_fiador(config, "keys", "create", "ada", wrong).exit_code == 2
    assert run_fiador(config, "keys", "create", " ").exit_code == 2
    assert run_fiador(config, "keys", "list", "--json").output.strip() == "[]"


def test_broken_front_matter_hides_that_document_alone_and_says_so(config: Path) -> None:
    run_fiador(config, "sync")
    hours = config.parent / "docs" / "hours.md"
    hours.write_text(hours.read_text("utf-8").replace("language: en", "langauge: en"), "utf-8")
    done = run_fiador(config, "sync")
    assert done.exit_code == 1
    assert "hours.md" in done.output
    assert "langauge" in done.output
    assert "9:30" not in run_fiador(config, "ask", QUESTION, "--model", "quoting").output
    question = "How high is the staff bonus for the reading room?"
    assert "350" in run_fiador(config, "ask", question, "--model", "quoting", "--as", "staff").output


def test_an_unreadable_folder_loses_nothing(config: Path) -> None:
    run_fiador(config, "sync")
    docs = config.parent / "docs"
    docs.rename(config.parent / "away")
    done = run_fiador(config, "sync")
    assert done.exit_code != 0
    (config.parent / "away").rename(docs)
    assert run_fiador(config, "sync").exit_code == 0
    assert "9:30" in run_fiador(config, "ask", QUESTION, "--model", "quoting").output


def test_decisions_lists_requests_and_opens_one(config: Path) -> None:
    assert run_fiador(config, "decisions", "--json").output.strip() == "[]"
    assert run_fiador(config, "decisions", "nothing").exit_code == 2


def test_the_id_that_ask_shows_opens_in_the_log(config: Path) -> None:
    run_fiador(config, "sync")
    told = json.loads(run_fiador(config, "ask", QUESTION, "--model", "quoting", "--json").output)
    row = json.loads(run_fiador(config, "decisions", told["trace"]["id"], "--json").output)
    assert (row["decision"], row["question"]) == ("answered", QUESTION)


def test_a_question_whose_upstream_fails_is_in_the_log_too(config: Path) -> None:
    run_fiador(config, "sync")
    assert run_fiador(config, "ask", QUESTION).exit_code == 1
    assert [row["decision"] for row in json.loads(run_fiador(config, "decisions", "--json").output)] == [
        "upstream_failed"
    ]


def test_a_dry_run_leaves_no_row_and_shows_no_id(config: Path) -> None:
    run_fiador(config, "sync")
    assert " id " not in run_fiador(config, "ask", QUESTION, "--dry-run", "--explain").output
    assert run_fiador(config, "decisions", "--json").output.strip() == "[]"


def test_spend_proves_itself_and_books_a_change_with_its_reason(config: Path) -> None:
    assert run_fiador(config, "spend", "--verify").exit_code == 0
    done = run_fiador(config, "spend", "adjust", "--reason", "a refund", "--", "-0.5")
    assert done.exit_code == 0, done.output
    rows = json.loads(run_fiador(config, "spend", "--by", "day", "--json").output)
    assert rows[0]["settled_nanousd"] == -500_000_000
    assert run_fiador(config, "spend", "--verify").exit_code == 0
    assert run_fiador(config, "spend", "adjust", "1").exit_code == 2
    acts = json.loads(run_fiador(config, "spend", "audit", "--json").output)
    assert [(act["act"], act["reason"]) for act in acts] == [("adjust", "a refund")]
    assert "a refund" in run_fiador(config, "spend", "audit").output
    assert run_fiador(config, "spend", "adjust", "-0.5", "--reason", "another").exit_code == 0


@pytest.mark.parametrize("wrong", ["nan", "inf", "1e300", "much"])
def test_an_amount_that_cannot_be_booked_is_bad_input(config: Path, wrong: str) -> None:
    assert run_fiador(config, "spend", "adjust", wrong, "--reason", "a refund").exit_code == 2
    assert run_fiador(config, "spend", "adjust", "1", "--reason", " ").exit_code == 2
    assert run_fiador(config, "spend", "--json").output.strip() == "[]"


@pytest.mark.parametrize("wrong", ["0", "-3", "many"])
def test_a_count_of_decisions_below_one_is_bad_input(config: Path, wrong: str) -> None:
    assert run_fiador(config, "decisions", "-n", wrong).exit_code == 2


@pytest.mark.parametrize("wrong", ["--since=november", "--report=2026-13"])
def test_a_time_that_is_none_is_bad_input(config: Path, wrong: str) -> None:
    done = run_fiador(config, "spend", wrong)
    assert (done.exit_code, "want 2026-11" in done.output) == (2, True)


def test_init_writes_over_nothing(tmp_path: Path) -> None:
    runner = CliRunner()
    assert runner.invoke(main, ["init", str(tmp_path / "new")]).exit_code == 0
    again = runner.invoke(main, ["init", str(tmp_path / "new")])
    assert again.exit_code == 2
    assert "exists already" in again.output


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    done = CliRunner().invoke(main, ["init", str(tmp_path / "file" / "new")])
    assert (done.exit_code, str(tmp_path / "file") in done.output) == (2, True)


def test_an_unknown_model_names_those_there_are(config: Path) -> None:
    done = run_fiador(config, "ask", QUESTION, "--model", "gpt")
    assert (done.exit_code, "want one of help, quoting" in done.output) == (2, True)


def test_check_and_sync_tell_programs_the_same_as_people(config: Path) -> None:
    synced = run_fiador(config, "sync", "--json")
    assert json.loads(synced.stdout)["added"] == 2
    hours = config.parent / "docs" / "hours.md"
    hours.write_text(hours.read_text("utf-8").replace("language: en", "langauge: en"), "utf-8")
    faulty = run_fiador(config, "sync", "--json")
    assert faulty.exit_code == 1
    assert json.loads(faulty.stdout)["faults"][0]["path"].endswith("hours.md:4")
    checked = json.loads(run_fiador(config, "check", "--json").stdout)
    assert checked["state"][0].startswith("index: 2 documents (1 hidden)")
    assert (checked["warnings"], checked["faults"]) == ([], [])


def test_calibrate_tells_programs_what_it_tells_people(config: Path) -> None:
    cases = config.parent / "cases.yaml"
    cases.write_text(
        "defaults: {model: quoting, language: en}\ncases:\n"
        f'  - {{id: open, question: "{QUESTION}", expect: answered, expect_source: handbook/hours.md}}\n'
        '  - {id: moon, question: "How far away is the moon?", expect: no_evidence}\n'
    )
    done = run_fiador(config, "calibrate", str(cases), "--json", "--write")
    row = json.loads(done.stdout)["help"]["all"]
    assert (done.exit_code, row["lowest"], row["highest"], row["threshold"]) == (0, 0.6667, 0.0, 0.333)
    assert lock.read_lock(config.parent / lock.LOCK_FILE_NAME)
