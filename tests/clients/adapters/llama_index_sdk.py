"""LlamaIndex's OpenAILike."""

from importlib.metadata import version

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from question_runner import URL, ClientQuestion, ShownAnswer, answer_questions, read_token_counts


def build_llm(question: ClientQuestion, **fields: object) -> OpenAILike:
    return OpenAILike(
        model=question.model,
        api_base=URL,
        api_key=question.key,
        is_chat_model=True,
        max_retries=0,
        **fields,
    )


def complete_chat(question: ClientQuestion) -> ShownAnswer:
    done = build_llm(question).chat([ChatMessage(role="user", content=question.question)])
    return ShownAnswer(
        done.message.content, done.raw.choices[0].finish_reason, read_token_counts(done.raw.usage)
    )


def stream_chat(question: ClientQuestion) -> ShownAnswer:
    shown = ShownAnswer()
    llm = build_llm(question, additional_kwargs={"stream_options": {"include_usage": True}})
    for chunk in llm.stream_chat([ChatMessage(role="user", content=question.question)]):
        shown.text = chunk.message.content
        for choice in chunk.raw.choices:
            shown.finish = choice.finish_reason or shown.finish
        shown.usage = read_token_counts(chunk.raw.usage) or shown.usage
    return shown


answer_questions(version("llama-index-llms-openai-like"), {"plain": complete_chat, "stream": stream_chat})
