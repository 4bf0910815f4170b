"""LangChain's ChatOpenAI."""

from importlib.metadata import version

from langchain_openai import ChatOpenAI
from told import URL, Question, Shown, ask, tokens


def model(question: Question) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=URL, api_key=question.key, model=question.model, max_retries=0, stream_usage=True
    )


def shown(message: object) -> Shown:
    finish = message.response_metadata.get("finish_reason")
    return Shown(message.content, finish, tokens(message.usage_metadata, "input_tokens", "output_tokens"))


def plain(question: Question) -> Shown:
    return shown(model(question).invoke(question.question))


def stream(question: Question) -> Shown:
    whole = None
    for chunk in model(question).stream(question.question):
        whole = chunk if whole is None else whole + chunk
    return shown(whole)


ask(version("langchain-openai"), {"plain": plain, "stream": stream})
