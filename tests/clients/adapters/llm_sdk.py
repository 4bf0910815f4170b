"""The `llm` tool's class for OpenAI-compatible servers, as `extra-openai-models.yaml` makes it."""

from importlib.metadata import version

from llm.default_plugins.openai_models import Chat
from question_runner import URL, ClientQuestion, ShownAnswer, answer_questions, read_token_counts


def build_chat(question: ClientQuestion) -> Chat:
    chat = Chat(question.model, model_name=question.model, api_base=URL)
    chat.needs_key = "fiador"
    return chat


def read_response(response: object, text: str) -> ShownAnswer:
    raw = response.response_json
    finish = raw.get("finish_reason") or raw["choices"][0]["finish_reason"]
    return ShownAnswer(text, finish, read_token_counts(response.usage(), "input", "output"))


def prompt_plain(question: ClientQuestion) -> ShownAnswer:
    response = build_chat(question).prompt(question.question, stream=False, key=question.key)
    return read_response(response, response.text())


def prompt_streaming(question: ClientQuestion) -> ShownAnswer:
    response = build_chat(question).prompt(question.question, stream=True, key=question.key)
    return read_response(response, "".join(response))


answer_questions(version("llm"), {"plain": prompt_plain, "stream": prompt_streaming})
