"""proxy.settings.load: a file is used whole or refused with every fault named."""

from pathlib import Path

import pytest

from proxy.domain.errors import ConfigError
from proxy.settings.load import load_settings

GOOD = """
[assistants.help]
sources = ["handbook"]
[sources.handbook]
path = "docs"
[upstreams.quote]
protocol = "extractive"
[models.help]
assistant = "help"
upstream = "quote"
prices = { input_usd_per_million = 0, output_usd_per_million = 0 }
"""


def write_config(folder: Path, text: str) -> Path:
    path = folder / "fiador.toml"
    path.write_text(text, "utf-8")
    return path


def collect_load_faults(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_settings(write_config(folder, text))
    return "\n".join(caught.value.faults)


def test_relative_paths_start_at_the_files_folder(tmp_path: Path) -> None:
    settings = load_settings(write_config(tmp_path, GOOD))
    assert settings.sources["handbook"].path == tmp_path / "docs"  # type: ignore[union-attr]
    assert settings.server.data_dir == tmp_path / "data"


@pytest.mark.parametrize("jwks", ["keys.json", "https://login.example.com/keys.json"])
def test_a_file_of_public_keys_starts_there_too(tmp_path: Path, jwks: str) -> None:
    table = f'\n[auth]\nmode = "jwt"\n[auth.jwt]\nissuer = "a"\naudience = "b"\njwks = "{jwks}"\n'
    settings = load_settings(write_config(tmp_path, GOOD + table))
    assert settings.auth.jwt is not None
    assert settings.auth.jwt.jwks == (jwks if "://" in jwks else str(tmp_path / jwks))


def test_an_unknown_setting_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    text = GOOD.replace("[assistants.help]", "[assistants.help]\nthreshhold = 0.4")
    assert "assistants.help.threshhold: unknown setting; did you mean `threshold`?" in collect_load_faults(
        tmp_path, text
    )


def test_an_unknown_section_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    assert "limit: unknown setting; did you mean `limits`?" in collect_load_faults(
        tmp_path, GOOD + "\n[limit]\n"
    )


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    text = GOOD + '\n[server]\nport = "x"\nworkers = 0\n'
    found = collect_load_faults(tmp_path, text)
    assert "server.port: want a valid integer" in found
    assert "server.workers: want greater than or equal to 1, got 0" in found


def test_a_dangling_name_is_an_error(tmp_path: Path) -> None:
    found = collect_load_faults(tmp_path, GOOD.replace('sources = ["handbook"]', 'sources = ["handbok"]'))
    assert "assistants.help.sources: want one of handbook, got `handbok`; did you mean `handbook`?" in found


def test_a_language_that_is_none_is_named_where_it_stands(tmp_path: Path) -> None:
    text = GOOD.replace("[sources", "[assistants.help.thresholds]\nxx = 0.4\n[sources")
    assert "assistants.help.thresholds: want one of en," in collect_load_faults(tmp_path, text)


def test_a_model_without_prices_is_an_error(tmp_path: Path) -> None:
    text = GOOD.replace("prices = { input_usd_per_million = 0, output_usd_per_million = 0 }", "")
    assert "models.help.prices: want a value, got nothing" in collect_load_faults(tmp_path, text)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('texts.en]\nno_evidance = "x"', "texts.en: want one of no_evidence, looked_in,"),
        ('texts.en]\n"refused.fee" = "x"', "got `refused.fee`"),
        ('topics]\noff = ["term"]', "topics.off: want one of instructions, private, terms,"),
    ],
)
def test_a_text_or_topic_that_there_is_none_of_is_an_error(tmp_path: Path, table: str, said: str) -> None:
    found = collect_load_faults(tmp_path, f"{GOOD}\n[assistants.help.{table}\n")
    assert said in found
    assert "did you mean" in found


def test_a_topic_of_ones_own_can_be_off_and_have_a_text(tmp_path: Path) -> None:
    own = '[assistants.help.topics.own.deal]\nphrases = ["merger"]\nmatch = ["The merger?"]\n'
    texts = '[assistants.help.texts.en]\n"refused.deal" = "No."\nstopped = "Enough."\n'
    off = '[assistants.help.topics]\noff = ["deal", "terms"]\n'
    assert load_settings(write_config(tmp_path, f"{GOOD}\n{off}{own}{texts}")).assistants[
        "help"
    ].topics.off == {
        "deal",
        "terms",
    }


def test_a_prefix_that_makes_no_link_is_an_error(tmp_path: Path) -> None:
    text = GOOD.replace("[sources.handbook]", '[sources.handbook]\nurl_base = "docs.example.org/"')
    assert "sources.handbook.url_base: want an http(s) address" in collect_load_faults(tmp_path, text)


def test_open_mode_beyond_loopback_must_be_said_twice(tmp_path: Path) -> None:
    found = collect_load_faults(tmp_path, GOOD + '\n[server]\nhost = "0.0.0.0"\n[auth]\nmode = "open"\n')
    assert "auth.open.allow_remote" in found


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="fiador init"):
        load_settings(tmp_path / "none.toml")


def test_what_is_no_toml_says_where(tmp_path: Path) -> None:
    assert "not TOML" in collect_load_faults(tmp_path, "[server\n")
