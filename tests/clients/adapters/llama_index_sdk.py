"""LlamaIndex's OpenAILike."""

from importlib.metadata import version

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from told import URL, Question, Shown, ask, tokens


def model(question: Question, **fields: object) -> OpenAILike:
    return OpenAILike(
        model=question.model,
        api_base=URL,
        api_key=question.key,
        is_chat_model=True,
        max_retries=0,
        **fields,
    )


def plain(question: Question) -> Shown:
    done = model(question).chat([ChatMessage(role="user", content=question.question)])
    return Shown(done.message.content, done.raw.choices[0].finish_reason, tokens(done.raw.usage))


def stream(question: Question) -> Shown:
    shown = Shown()
    asked = model(question, additional_kwargs={"stream_options": {"include_usage": True}})
    for chunk in asked.stream_chat([ChatMessage(role="user", content=question.question)]):
        shown.text = chunk.message.content
        for choice in chunk.raw.choices:
            shown.finish = choice.finish_reason or shown.finish
        shown.usage = tokens(chunk.raw.usage) or shown.usage
    return shown


ask(version("llama-index-llms-openai-like"), {"plain": plain, "stream": stream})
