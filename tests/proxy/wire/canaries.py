"""Every field of the openai package's own types, each with a canary in it."""

import types
import typing
from collections.abc import Iterator

from hypothesis import strategies as st
from pydantic import BaseModel

CANARY = "CANARY"


def build_canaries(kind: object) -> st.SearchStrategy[object]:
    """Values of a type annotation with a canary in every string; what is optional may be missing or null."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return build_canaries(inside[0])
    if origin in (typing.Union, types.UnionType):
        return st.one_of([build_canaries(one) for one in inside])
    if origin is typing.Literal:
        return st.sampled_from(inside)
    if origin is list:
        return st.lists(build_canaries(inside[0]), min_size=1, max_size=2)
    if origin is dict or kind is object:
        return st.just({CANARY: CANARY})
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return fill_model(kind)
    return _PLAIN[kind]


_PLAIN: dict[object, st.SearchStrategy[object]] = {
    str: st.just(CANARY),
    int: st.integers(0, 9),
    float: st.just(0.5),
    bool: st.booleans(),
    type(None): st.none(),
}


def fill_model(kind: type[BaseModel]) -> st.SearchStrategy[object]:
    """An object with every field of `kind`, and one that no version knows yet."""
    named = {(f.alias or name): build_canaries(f.annotation) for name, f in kind.model_fields.items()}
    return st.fixed_dictionaries(named).map(lambda value: value | {"from_the_future": CANARY})


def iterate_field_names(kind: type[BaseModel], seen: tuple[type, ...] = ()) -> Iterator[str]:
    """The names of all fields below `kind`."""
    for name, field in kind.model_fields.items():
        yield name
        for inner in _iterate_models(field.annotation):
            if inner not in seen:
                yield from iterate_field_names(inner, (*seen, inner))


def _iterate_models(kind: object) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for inner in typing.get_args(kind):
        yield from _iterate_models(inner)


def set_answer_text(value: object, text: str) -> object:
    """`value` with the one field that may be text set to `text`, in choice 0."""
    assert isinstance(value, dict)
    for choice in value["choices"]:
        for key in ("delta", "message"):
            if key in choice:
                choice[key]["content"] = text if choice["index"] == 0 else CANARY
    return value
