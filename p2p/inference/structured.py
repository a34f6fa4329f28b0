"""Structured answers: requested by schema, validated, and repaired at most twice."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from p2p.contracts.inference import Message, ModelRequest, ReplyMalformed, RequestRejected, user
from p2p.inference.client import SessionModel

M = TypeVar("M", bound=BaseModel)
FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
REPAIR = "Your answer cannot be used: {problem}\nAnswer again, with the whole JSON object and nothing else."
IN_WORDS = "Answer with one JSON object and nothing else. It must follow this JSON Schema:\n{schema}"
MAX_REPAIRS = 2
"""Times that a wrong answer is sent back with what is wrong."""
MAX_PROBLEMS = 8
"""Of a wrong answer told to the model at once."""


class Unusable(Exception):
    """Answer that does not fit the type; the message tells the model why."""


def structured(
    model: SessionModel, request: ModelRequest, contract: type[M], check: Callable[[M], None] = lambda _: None
) -> M:
    """Ask for an answer of type `contract`; an invalid one is sent back with every error.

    Answers that come to nothing are kept and never used again: whoever asks the same later is answered afresh.

    Args:
        model: Who answers.
        request: What is asked.
        contract: The type; its schema, with the docstrings of its fields, is sent along.
        check: Raises ValueError for what the type cannot say, such as the names that exist.

    Raises:
        ReplyMalformed: the answer is wrong after `MAX_REPAIRS` repairs too.
        BudgetExceeded: a cap would be passed.
        ModelProblem: there is no whole answer.
    """
    schema = contract.model_json_schema()
    request = request.model_copy(update={"output_schema": schema})
    try:
        reply = model.ask(request)
    except RequestRejected:  # models and servers differ in the schemas they take; all of them read
        words = user(IN_WORDS.format(schema=json.dumps(schema)))
        request = request.model_copy(update={"output_schema": None, "messages": (*request.messages, words)})
        reply = model.ask(request)
    asked = [request]
    while True:
        try:
            return parse(reply.text, contract, check)
        except Unusable as problem:
            if len(asked) > MAX_REPAIRS:
                for one in asked:
                    model.forget(one)
                raise ReplyMalformed(
                    f"The answer of {reply.model} is not a valid {contract.__name__}, even after asking again: "
                    f"{problem}"
                ) from problem
            last = asked[-1]
            answer: Message = reply.message
            messages = (*last.messages, answer, user(REPAIR.format(problem=str(problem))))
            asked.append(last.model_copy(update={"messages": messages}))
        reply = model.ask(asked[-1])


def parse(text: str, contract: type[M], check: Callable[[M], None] = lambda _: None) -> M:
    """Parse a value of type `contract` from an answer: bare, fenced, or within text; unknown keys are dropped.

    Raises:
        Unusable: there is none.
    """
    value = _first_object(text)
    for _ in range(20):
        try:
            made = contract.model_validate_json(json.dumps(value))
            check(made)
        except ValidationError as error:
            if not _drop_unknown(value, error):
                said = []
                for problem in error.errors(include_url=False)[:MAX_PROBLEMS]:
                    place = ".".join(map(str, problem["loc"])) or "the object"
                    said.append(f"{place}: {problem['msg']} (was {str(problem['input'])[:80]})")
                words = "; ".join(filter(None, [*said, _meaning(value, contract, check, error)]))
                raise Unusable(words) from error
        except ValueError as error:
            raise Unusable(str(error)) from error
        else:
            return made
    raise Unusable("it has too many unknown keys")


def _first_object(text: str) -> Any:
    """Extract the first JSON object of a text."""
    said = ""
    for candidate in _candidates(text):
        try:
            value, _ = json.JSONDecoder(parse_constant=_refuse).raw_decode(candidate)
        except (ValueError, RecursionError) as error:
            if not said and candidate.startswith("{"):
                said = f": {error}"
            continue
        if isinstance(value, dict):
            return value
    raise Unusable(f"it holds no JSON object{said}")


def _candidates(text: str) -> Iterator[str]:
    for piece in (text, *FENCE.findall(text)):
        yield piece.strip()
    for match in list(re.finditer(r"\{", text))[:50]:
        yield text[match.start() :]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _drop_unknown(value: Any, error: ValidationError) -> bool:
    """Remove keys that the type does not have; return whether any was removed."""
    removed = False
    for problem in error.errors(include_input=False, include_url=False):
        if problem["type"] != "extra_forbidden":
            continue
        place = value
        for step in problem["loc"][:-1]:
            if isinstance(place, list) and isinstance(step, int) and step < len(place):
                place = place[step]
            elif isinstance(place, dict) and step in place:
                place = place[step]  # a step that is no key names the branch of a union
        if isinstance(place, dict) and problem["loc"][-1] in place:
            del place[problem["loc"][-1]]
            removed = True
    return removed


def _meaning(value: Any, contract: type[M], check: Callable[[M], None], error: ValidationError) -> str:
    """Errors that `check` finds in the valid fields, while others are invalid; empty where it needs those."""
    wrong = {problem["loc"][0] for problem in error.errors(include_url=False) if problem["loc"]}
    if not isinstance(value, dict) or not wrong:
        return ""
    fields = {name: field for name, field in contract.model_fields.items() if name in value and name not in wrong}
    try:
        good = {
            name: TypeAdapter[Any](field.annotation or object).validate_python(value[name])
            for name, field in fields.items()
        }
        check(contract.model_construct(**good))
    except ValidationError:
        return ""
    except ValueError as meaning:
        return str(meaning)
    except (AttributeError, TypeError, LookupError):  # it reads a field that is not there
        return ""
    return ""
