"""hookexec: deterministic control over AI agents by a declarative hooks.yaml.

    from hookexec import Hooks

    with Hooks("hooks.yaml") as hooks, hooks.session() as session:
        with session.turn("What is here?") as turn:
            outcome = turn.tool_call("shell", {"cmd": "ls"}).run(shell)
            print(outcome.for_model)

Everything that can't be decided is denied: see `docs/hosts.md`.
"""

from typing import TYPE_CHECKING

from hookexec._program import find_hookexec_bin

if TYPE_CHECKING:
    from hookexec._connection import HooksError
    from hookexec._drivers import (
        ApprovalRequest,
        ModelCall,
        NotRun,
        Refused,
        Session,
        ToolCall,
        ToolOutcome,
        Turn,
    )
    from hookexec._hooks import Hooks

__all__ = [
    "ApprovalRequest",
    "Hooks",
    "HooksError",
    "ModelCall",
    "NotRun",
    "Refused",
    "Session",
    "ToolCall",
    "ToolOutcome",
    "Turn",
    "find_hookexec_bin",
]


def __getattr__(name: str) -> object:
    # `python -m hookexec` starts without the library.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hookexec import _connection, _drivers, _hooks

    for module in (_hooks, _drivers, _connection):
        if name in vars(module):
            return vars(module)[name]
    raise AttributeError(name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
