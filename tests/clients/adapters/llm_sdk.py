"""The `llm` tool's class for OpenAI-compatible servers, as `extra-openai-models.yaml` makes it."""

from importlib.metadata import version

from llm.default_plugins.openai_models import Chat
from told import URL, Question, Shown, ask, tokens


def model(question: Question) -> Chat:
    made = Chat(question.model, model_name=question.model, api_base=URL)
    made.needs_key = "fiador"
    return made


def shown(response: object, text: str) -> Shown:
    raw = response.response_json
    finish = raw.get("finish_reason") or raw["choices"][0]["finish_reason"]
    return Shown(text, finish, tokens(response.usage(), "input", "output"))


def plain(question: Question) -> Shown:
    response = model(question).prompt(question.question, stream=False, key=question.key)
    return shown(response, response.text())


def stream(question: Question) -> Shown:
    response = model(question).prompt(question.question, stream=True, key=question.key)
    return shown(response, "".join(response))


ask(version("llm"), {"plain": plain, "stream": stream})
