"""What the conformance suite asks of tools and prompts that put questions to the client."""

from collections.abc import Mapping
from typing import Any

from conformance_content import answer, text
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
)

CHOICES = ["option1", "option2", "option3"]
NUMBERED = ((1, "First"), (2, "Second"))
DEFAULTS: dict[str, Any] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
ENUMS: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": CHOICES},
    "titledSingle": {
        "type": "string",
        "oneOf": [{"const": f"value{n}", "title": f"{word} Option"} for n, word in NUMBERED],
    },
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": CHOICES}},
    "titledMulti": {
        "type": "array",
        "items": {
            "anyOf": [
                {"const": f"value{n}", "title": f"{word} Choice"} for n, word in enumerate(("First", "Second"), 1)
            ]
        },
    },
}

Answer = CallToolResult | InputRequiredResult


def form(message: str, **properties: str) -> ElicitRequest:
    """A question with required fields, each of the JSON type given."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(prompt: str, max_tokens: int = 100) -> CreateMessageRequest:
    """A question to the client's model."""
    message = SamplingMessage(role="user", content=text(prompt))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens))


def accepted(ctx: Context, key: str) -> Mapping[str, Any] | None:
    """What the user filled in for a question; None before it was answered."""
    given = (ctx.input_responses or {}).get(key)
    return given.content if isinstance(given, ElicitResult) and given.content is not None else None


async def ask_form(ctx: Context, message: str, properties: dict[str, Any], required: list[str]) -> ElicitResult:
    """A question of the handshake era, asked while the call waits."""
    capabilities = ctx.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        raise ToolError("The client cannot be asked.")
    schema = {"type": "object", "properties": properties, "required": required}
    return await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)


async def test_sampling(prompt: str, ctx: Context) -> CallToolResult:
    """Asks the client's model."""
    capabilities = ctx.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise ToolError("The client has no model to ask.")
    message = SamplingMessage(role="user", content=text(prompt))
    result = await ctx.session.create_message([message], max_tokens=100, related_request_id=ctx.request_id)
    return answer(text(f"LLM response: {getattr(result.content, 'text', '')}"))


async def test_elicitation(message: str, ctx: Context) -> CallToolResult:
    """Asks the user for a name and an address."""
    properties = {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }
    result = await ask_form(ctx, message, properties, list(properties))
    return answer(text(f"User response: action={result.action}, content={result.content}"))


async def test_elicitation_sep1034_defaults(ctx: Context) -> CallToolResult:
    """Asks the user with a default for every kind of field."""
    result = await ask_form(ctx, "Please review", DEFAULTS, [])
    return answer(text(f"Elicitation completed: action={result.action}, content={result.content}"))


async def test_elicitation_sep1330_enums(ctx: Context) -> CallToolResult:
    """Asks the user with every kind of choice."""
    result = await ask_form(ctx, "Please choose", ENUMS, [])
    return answer(text(f"Elicitation completed: action={result.action}, content={result.content}"))


def test_missing_capability(ctx: Context) -> CallToolResult:
    """Works only with a client that has a model."""
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        data = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(code=MISSING_REQUIRED_CLIENT_CAPABILITY, message="sampling is needed", data=data)
    return answer(text("ok"))


def test_streaming_elicitation(ctx: Context) -> Answer:
    """A question inside a streamed answer."""
    return _hello(ctx, "test", "What is your name?")


def test_input_required_result_elicitation(ctx: Context) -> Answer:
    """Asks for a name and greets."""
    return _hello(ctx, "user_name", "What is your name?")


def test_input_required_result_tampered_state(ctx: Context) -> Answer:
    """Asks, with a state that nobody may change."""
    return test_input_required_result_request_state(ctx)


def test_input_required_result_sampling(ctx: Context) -> Answer:
    """Asks the client's model."""
    given = (ctx.input_responses or {}).get("capital_question")
    if not isinstance(given, CreateMessageResult):
        return InputRequiredResult(input_requests={"capital_question": sample("What is the capital of France?")})
    return answer(text(getattr(given.content, "text", "")))


def test_input_required_result_list_roots(ctx: Context) -> Answer:
    """Asks for the client's roots."""
    given = (ctx.input_responses or {}).get("client_roots")
    if not isinstance(given, ListRootsResult):
        return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})
    return answer(text(", ".join(str(root.uri) for root in given.roots)))


def test_input_required_result_request_state(ctx: Context) -> Answer:
    """Asks for a confirmation and keeps a state meanwhile."""
    if accepted(ctx, "confirm") is None:
        question = form("Please confirm", ok="boolean")
        return InputRequiredResult(input_requests={"confirm": question}, request_state="waiting")
    if ctx.request_state != "waiting":
        raise MCPError(code=INVALID_PARAMS, message="The state is not the one that was sent.")
    return answer(text("state-ok"))


def test_input_required_result_multiple_inputs(ctx: Context) -> Answer:
    """Asks user, model and client at once."""
    questions = {
        "user_name": form("What is your name?", name="string"),
        "greeting": sample("Generate a greeting", 50),
        "client_roots": ListRootsRequest(),
    }
    given = ctx.input_responses or {}
    if any(key not in given for key in questions):
        return InputRequiredResult(input_requests=questions, request_state="asked all")
    return answer(text("all answered"))


def test_input_required_result_multi_round(ctx: Context) -> Answer:
    """Asks twice, one after the other."""
    if ctx.request_state == "second" and (color := accepted(ctx, "step2")):
        return answer(text(f"done: {color}"))
    if ctx.request_state == "first" and accepted(ctx, "step1"):
        question = form("Step 2: What is your favorite color?", color="string")
        return InputRequiredResult(input_requests={"step2": question}, request_state="second")
    question = form("Step 1: What is your name?", name="string")
    return InputRequiredResult(input_requests={"step1": question}, request_state="first")


def test_input_required_result_capabilities(ctx: Context) -> Answer:
    """Asks only what the client can answer."""
    can = ctx.client_capabilities or ClientCapabilities()
    questions: dict[str, Any] = {}
    if can.sampling is not None:
        questions["greeting"] = sample("Generate a greeting")
    if can.elicitation is not None:
        questions["user_name"] = form("What is your name?", name="string")
    return InputRequiredResult(input_requests=questions) if questions else answer(text("nobody to ask"))


def _hello(ctx: Context, key: str, question: str) -> Answer:
    given = accepted(ctx, key)
    if given is None or not isinstance(given.get("name"), str):
        return InputRequiredResult(input_requests={key: form(question, name="string")})
    return answer(text(f"Hello, {given['name']}!"))


TOOLS = (
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_missing_capability,
    test_streaming_elicitation,
    test_input_required_result_elicitation,
    test_input_required_result_tampered_state,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
)


def add_questions(server: MCPServer[Any]) -> None:
    """Add the tools that ask, and a prompt that does."""
    for tool in TOOLS:
        server.add_tool(tool)

    @server.prompt()
    def test_input_required_result_prompt(ctx: Context) -> str | InputRequiredResult:
        """Asks what it should be about."""
        given = accepted(ctx, "user_context")
        if given is None:
            question = form("What context should the prompt use?", context="string")
            return InputRequiredResult(input_requests={"user_context": question})
        return f"Use this context: {given.get('context')}"
