"""A chat window's errands are recognised; a person's question about the same things is not."""

import pytest

from proxy.types import ChatRequest
from proxy.wire.request import task


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.",
            "title",
        ),
        ("Provide a concise, 5-word-or-less title for the conversation, using its same language", "title"),
        (
            "Please generate a four to five word title summarizing our conversation without any lead-in",
            "title",
        ),
        ("You are a title generator. You output ONLY a thread title.", "title"),
        ("### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history", "tags"),
        (
            "### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might ask",
            "follow_ups",
        ),
        (
            "### Task:\nAnalyze the chat history to determine the necessity of generating search queries",
            "queries",
        ),
        ("### Task:\nGenerate a detailed prompt for am image generation task", "image_prompt"),
        ("### Task:\nYou are an autocompletion system. Continue the text", "autocomplete"),
    ],
)
@pytest.mark.parametrize("place", ["question", "instructions"])
def test_errands(text: str, name: str, place: str) -> None:
    texts = {"question": "USER: hello"} | {place: text}
    assert task(ChatRequest(model="ada", **texts)) == name  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question",
    [
        "What is the title of her thesis?",
        "Give me a concise summary of the project.",
        "Which tags does the article on broad themes have?",
        "Does the handbook suggest follow-up questions?",
        "Write a short title for this job posting.",
        "What is the task of the emoji team?",
        "How does the search generate queries?",
        "Is there a conversation about the title of the book?",
    ],
)
def test_questions(question: str) -> None:
    assert task(ChatRequest(model="ada", question=question)) is None


def test_a_conversation_quoted_far_below_is_not_looked_at() -> None:
    quoted = "Who? " * 400 + "Generate 1-3 broad tags categorizing the main themes"
    assert task(ChatRequest(model="ada", question=quoted)) is None
