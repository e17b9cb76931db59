"""Runs the vectors of AGENT-HOOKS 0.1 through hooks, under the reference host of its package.

tests/hosts/frameworks.py runs it. Each scripted interceptor of a vector is a hook that answers in
hookexec's terms, and `HooksInterceptor` hands the verdict of the hooks to the host.
"""

import copy
import json
import os
import pathlib
import sys
import tempfile

from agent_hooks._core import AgentHooksCoreError, apply_transform_ctx
from agent_hooks.ctk.reference import ReferenceHarness
from agent_hooks.ctk.runner import load_vectors, run_vectors

from hookexec import Hooks
from hookexec.agent_hooks import HooksInterceptor

HOOKS = """
hooks:
  before_agent_run: [{ type: builtin, command: script }]
  user_prompt_submit: [{ type: builtin, command: script }]
  pre_tool_use: [{ matcher: "*", hooks: [{ type: builtin, command: script, mutates: true }] }]
  post_tool_use: [{ matcher: "*", hooks: [{ type: builtin, command: script }] }]
  after_agent_complete: [{ type: builtin, command: script }]
"""
#: What the hooks of these vectors would have to say besides their decision, and no hook can.
MORE = {
    "AH-CTK-050": "the reason code of a warning",
    "AH-CTK-080": "result_labels",
    "AH-CTK-081": "the reason code of a warning",
    "AH-CTK-086": "result_labels, and the reason code of a warning",
    "AH-CTK-088": "the reason code of a warning",
    "AH-CTK-092": "evidence",
    "AH-CTK-097": "the reason of an allow",
    "AH-CTK-102": "a path, here one that does not exist",
    "AH-CTK-104": "the reason of an allow",
}
#: Where the hooks decided something else than the script.
DISAGREEMENTS = []


class Guard:
    """A scripted interceptor, asked through hooks."""

    def __init__(self, script, config, is_relayed):
        self.script, self.is_relayed = script, is_relayed
        self.hooks = Hooks(config, isolated=True, program=os.environ["HOOKEXEC"])
        self.hooks.builtin("script")(self.answer)
        self.interceptor = HooksInterceptor(self.hooks)

    async def intercept(self, context):
        self.context = copy.deepcopy(context)
        try:
            self.scripted = self.script.intercept(context)
        except RuntimeError as fault:
            self.scripted = fault
        verdict = await self.interceptor.intercept(self.context)
        wanted, got = effect(self.context, self.scripted), effect(self.context, verdict)
        point = context["interception_point"]
        if point == "pre_tool_call":
            self.has_denied = got == "deny"
        # The host ran a tool that the hooks had denied: they give nothing of it to the model.
        if wanted != got and not (point == "post_tool_call" and self.has_denied and got == "deny"):
            DISAGREEMENTS.append(f"the script wants {wanted}, and the hooks {got}")
        if not self.is_relayed or wanted != got:
            return verdict
        if isinstance(self.scripted, RuntimeError):
            raise self.scripted
        return self.scripted

    def answer(self, input):
        """Answers the hook as its author would."""
        if isinstance(self.scripted, RuntimeError):
            raise self.scripted
        reason = self.scripted.get("reason")
        if self.scripted["decision"] == "transform":
            return {"updated_input": effect(self.context, self.scripted, or_raise=True)}
        if "approval" in self.scripted:
            return {"permission_decision": "ask", "permission_decision_reason": reason}
        if self.scripted["decision"] == "deny":
            return {"decision": "deny", "reason": reason}
        return None


def effect(context, verdict, or_raise=False):
    """Returns what a verdict of one interceptor comes to."""
    if isinstance(verdict, RuntimeError) or verdict["decision"] == "deny":
        return "ask" if "approval" in getattr(verdict, "keys", list)() else "deny"
    if verdict["decision"] == "allow":
        return context["target"]
    try:
        transform = verdict["transform"]
        told = [json.dumps(it) for it in (context, transform["value"])]
        changed = json.loads(apply_transform_ctx(told[0], transform["path"], told[1]))["target"]
    except (KeyError, AgentHooksCoreError):
        if or_raise:
            raise
        return "deny"
    is_forbidden = context["interception_point"] in ("agent_startup", "agent_shutdown")
    return "deny" if is_forbidden else changed


def judge(config, is_relayed):
    """Returns the results of all vectors that have no host declaration."""
    guards = []

    class Harness(ReferenceHarness):
        def setup(self, scenario, interceptors, *more, **options):
            made = [Guard(it, config, is_relayed) for it in interceptors]
            guards.extend(made)
            super().setup(scenario, made, *more, **options)

    vectors = [it for it in load_vectors() if "host_declaration" not in it]
    results = run_vectors(Harness, vectors)
    for guard in guards:
        guard.hooks.close()
    return [it for it in results if it.status != "skip"]


def main():
    with tempfile.TemporaryDirectory() as directory:
        config = pathlib.Path(directory).resolve() / "hooks.yaml"
        config.write_text(HOOKS)
        plain, relayed = judge(config, is_relayed=False), judge(config, is_relayed=True)
    lost = [it for it in plain if it.status == "fail" and it.id not in MORE]
    lost += [it for it in relayed if it.status == "fail"]
    for it in lost:
        print(it.id, it.title, *it.failures, sep="\n  ")
    print(*DISAGREEMENTS, sep="\n", end="")
    held = sum(it.status == "pass" for it in plain)
    print(f"{held} of {len(plain)} vectors hold; the others want more than a decision of the hooks")
    sys.exit(bool(lost or DISAGREEMENTS) or (len(plain), held) != (47, 47 - len(MORE)))


if __name__ == "__main__":
    main()
