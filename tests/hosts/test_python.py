"""The Python package against a real server: `HOOKEXEC=target/debug/hookexec python3 tests/hosts/test_python.py`."""

import asyncio
import contextlib
import io
import os
import pathlib
import signal
import sys
import tempfile
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "hosts/python"))

import hookexec  # noqa: E402
from hookexec import Hooks, HooksError, NotRun, Refused  # noqa: E402

PROGRAM = os.path.abspath(os.environ["HOOKEXEC"])
#: How long a test waits before it gives up; none waits so long for success.
HANG = 120

GUARD = """
hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: builtin, command: judge }
"""

#: Ends the turn at once, beside a hook that hangs.
OUTLASTS = """
hooks:
  post_tool_use:
    - hooks:
        - { type: command, command: "echo '{\\\"continue\\\": false, \\\"stop_reason\\\": \\\"enough\\\"}'" }
        - { type: command, command: sleep 1000, timeout: 10m }
"""


def shell(cmd):
    return f"ran {cmd}"


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = pathlib.Path(directory.name).resolve()
        # A wrapper that says which process the server is.
        self.program = self.place / "hookexec"
        self.program.write_text(
            f'#!/bin/sh\necho $$ >> "{self.place}/pids"\nexec "{PROGRAM}" "$@"\n'
        )
        self.program.chmod(0o755)

    def hooks(self, text=GUARD, **options):
        file = self.place / "hooks.yaml"
        file.write_text(text)
        options = {"isolated": True, "program": self.program, "cwd": self.place, **options}
        hooks = Hooks(file, **options)
        self.addCleanup(hooks.close)
        return hooks

    @contextlib.contextmanager
    def server_told(self, hooks, within_ms):
        """Gives the server less time than the client waits: a busy machine answers late."""
        server = hooks.connection()
        request = server.request
        server.request = lambda method, params: request(method, {**params, "within_ms": within_ms})
        yield
        del server.request

    def pids(self):
        return [int(line) for line in (self.place / "pids").read_text().split()]

    def judged_by(self, answer, text=GUARD, **options):
        """Returns hooks whose builtin `judge` is the given function."""
        hooks = self.hooks(text, **options)
        hooks.builtin("judge")(answer)
        return hooks


class Package(unittest.TestCase):
    def test_its_names_are_listed_before_they_are_loaded(self):
        self.assertLessEqual({"Hooks", "ApprovalRequest", "find_hookexec_bin"}, set(dir(hookexec)))


class ToolCalls(Case):
    def test_each_answer_of_a_hook_has_its_effect(self):
        answers = {
            "rm": {"decision": "deny", "reason": "no rm"},
            "ls": {"updated_input": {"cmd": "ls -l"}, "additional_context": "be brief"},
            "date": {"respond": {"for_llm": "noon"}},
            "halt": {"continue": False, "stop_reason": "enough"},
        }
        hooks = self.judged_by(lambda input: answers.get(input["tool_input"]["cmd"]),
                               GUARD.replace("judge }", "judge, mutates: true }"))
        ran = []

        def tool(cmd):
            ran.append(cmd)
            return shell(cmd)

        with hooks.session() as session, session.turn("go") as turn:
            ends = {}
            for cmd in ["rm", "ls", "date", "halt", "echo"]:
                ends[cmd] = turn.tool_call("shell", {"cmd": cmd}).run(tool)
        self.assertEqual(ran, ["ls -l", "echo"])
        said = {cmd: (end.end, end.for_model, end.is_error) for cmd, end in ends.items()}
        self.assertEqual(said, {
            "rm": ("denied", "Tool call denied: no rm", True),
            "ls": ("ran", "ran ls -l\n\nbe brief", False),
            "date": ("responded", "noon", False),
            "halt": ("aborted", "Stopped by a hook: enough", True),
            "echo": ("ran", "ran echo", False),
        })
        self.assertEqual(ends["ls"].tool_input, {"cmd": "ls -l"})
        self.assertEqual(ends["halt"].stop["reason"], "enough")

    def test_an_ask_is_approved_refused_or_denied(self):
        hooks = self.judged_by(lambda input: {"decision": "ask", "reason": "sure?"})
        asked = []

        def approve(request):
            asked.append((request.tool_name, request.tool_input, request.reason))
            return True

        def broken(request):
            raise ValueError("no terminal")

        async def later(request):
            return True

        with hooks.session() as session:
            ends = [
                session.tool_call("shell", {"cmd": "ls"}, approve=how).run(shell)
                for how in [None, approve, lambda _: False, lambda _: "not today",
                            lambda _: 1, later]
            ]
            with self.assertRaisesRegex(ValueError, "no terminal"):
                session.tool_call("shell", {"cmd": "ls"}, approve=broken).run(self.fail)
        self.assertEqual(asked, [("shell", {"cmd": "ls"}, "sure?")])
        self.assertEqual([end.end for end in ends],
                         ["denied", "ran", "denied", "denied", "denied", "ran"])
        self.assertIn("no one can be asked: sure?", ends[0].message)
        self.assertEqual(ends[3].message, "not today")

    def test_a_response_is_rewritten_and_objected_to_after_a_failure_too(self):
        seen = []

        def judge(input):
            seen.append((input["hook_event_name"], input["tool_response"], input["tool_error"]))
            if input["hook_event_name"] == "post_tool_use":
                return {"decision": "block", "reason": "look again"}
            return {"updated_tool_response": "clean"}

        hooks = self.judged_by(judge, """
hooks:
  tool_response_transform: { hooks: { type: builtin, command: judge } }
  post_tool_use: { hooks: { type: builtin, command: judge } }
""")

        def broken(cmd):
            raise ValueError("secret")

        with hooks.session() as session:
            good = session.tool_call("shell", {"cmd": "ls"}).run(shell)
            bad = session.tool_call("shell", {"cmd": "ls"}).run(broken)
            with self.assertRaises(ValueError), session.tool_call("shell", {"cmd": "x"}) as call:
                broken("x")
        self.assertEqual((good.end, good.response, good.for_model),
                         ("ran", "clean", "clean\n\nlook again"))
        self.assertEqual((bad.end, bad.response, str(bad.exception)), ("failed", "clean", "secret"))
        self.assertEqual(call.outcome.end, "failed")
        self.assertEqual(seen[:2], [("tool_response_transform", "ran ls", False),
                                    ("post_tool_use", "clean", False)])
        self.assertEqual(seen[2], ("tool_response_transform", "secret", True))

    def test_a_stop_counts_although_another_hook_outlasts_the_client(self):
        hooks = self.hooks(OUTLASTS)
        with hooks.session() as session:
            with self.server_told(hooks, 3000):
                end = session.tool_call("shell", {"cmd": "ls"}).run(shell)
        self.assertEqual((end.end, end.stop["reason"]), ("aborted", "enough"))

    def test_the_block_of_a_with_does_not_run_if_the_call_is_denied(self):
        hooks = self.judged_by(lambda input: {"decision": "deny", "reason": "no"})
        with hooks.session() as session:
            with self.assertRaises(NotRun) as caught:
                with session.tool_call("shell", {"cmd": "ls"}):
                    self.fail("the block ran")
        self.assertEqual(caught.exception.outcome.end, "denied")

    def test_kinds_of_tools_are_known_by_name_or_by_the_host(self):
        hooks = self.judged_by(lambda input: {"decision": "deny", "reason": "no"},
                               tools={"run_it": "shell"})
        with hooks.session() as session:
            ends = [session.tool_call(name, {"cmd": "ls"}).run(shell).end
                    for name in ["bash", "run_it", "other"]]
        self.assertEqual(ends, ["denied", "denied", "ran"])

    def test_a_response_that_no_hook_changed_is_the_tools_own_object(self):
        hooks = self.judged_by(lambda input: None)
        made = {"files": ["a", "b"], "count": 2}
        class Hidden:
            def __str__(self): return "hidden"
            def __repr__(self): return "a secret"
        with hooks.session() as session:
            end = session.tool_call("shell", {"cmd": "ls"}).run(lambda cmd: made)
            self.assertIs(end.response, made)
            # Hooks saw its text alone, so its text is all that is handed on.
            end = session.tool_call("shell", {"cmd": "ls"}).run(lambda cmd: {"user": Hidden()})
            self.assertEqual(end.response, {"user": "hidden"})

    def test_async_calls_go_the_same_way(self):
        async def judge(input, args):
            await asyncio.sleep(0)
            if input["tool_input"]["cmd"] == "rm":
                return {"decision": "deny", "reason": "no rm"}
            return {"decision": "ask", "reason": "sure?"}

        async def approve(request):
            return True

        async def tool(cmd):
            await asyncio.sleep(0)
            return shell(cmd)

        async def main():
            async with self.judged_by(judge, approve=approve) as hooks:
                async with hooks.session() as session, session.turn("go") as turn:
                    calls = [turn.tool_call("shell", {"cmd": cmd}) for cmd in ["rm", "ls"]]
                    ends = [await call.run_async(tool) for call in calls]
                    self.assertIsNone(await turn.finish_async("done"))
                    response = await turn.model_call([]).run_async(lambda request: "hi")
            return [end.for_model for end in ends] + [response]

        said = asyncio.run(main())
        self.assertEqual(said, ["Tool call denied: no rm", "ran ls", "hi"])


class Around(Case):
    def test_sessions_turns_and_model_calls_fire_their_events_in_order(self):
        seen = []

        def judge(input):
            event = input["hook_event_name"]
            seen.append((event, input.get("turn_id"), input.get("iteration")))
            context = {"session_start": "it is Monday", "user_prompt_submit": "be kind"}
            if event in context:
                return {"additional_context": context[event]}
            if event == "stop" and not input["stop_hook_active"]:
                return {"decision": "block", "reason": "run the tests"}
            if event == "before_llm_call":
                return {"updated_messages": [{"role": "user", "content": "clean"}]}
            if event == "after_llm_call":
                return {"updated_response": {"content": "short"}}

        events = ["session_start", "user_prompt_submit", "turn_start", "before_llm_call",
                  "after_llm_call", "stop", "turn_end", "session_end"]
        hook = "{ type: builtin, command: judge }"
        hooks = self.judged_by(judge, "hooks:\n" + "".join(
            f"  {event}: {hook}\n" for event in events))
        with hooks.session("s-1", model="m") as session:
            self.assertEqual(session.additional_context, "it is Monday")
            with session.turn("hello") as turn:
                self.assertEqual(turn.additional_context, "be kind")
                sent = []

                def model(request):
                    sent.append((request.messages, request.model))
                    return {"content": "a long answer"}

                answer = session.model_call([{"role": "user", "content": "secret"}]).run(model)
                self.assertEqual(answer, {"content": "short"})
                self.assertEqual(sent, [([{"role": "user", "content": "clean"}], "m")])
                self.assertEqual(turn.finish("done"), "run the tests")
                self.assertIsNone(turn.finish("really done"))
        self.assertEqual([event for event, *_ in seen], [*events[:6], "stop", *events[6:]])
        self.assertEqual(seen[3], ("before_llm_call", "turn-1", 1))

    def test_what_a_hook_refuses_raises(self):
        def judge(input):
            return {"decision": "block", "reason": f"no {input['hook_event_name']}"}

        hook = "{ type: builtin, command: judge }"
        hooks = self.judged_by(
            judge, f"hooks:\n  user_prompt_submit: {hook}\n  before_llm_call: {hook}\n")
        with hooks.session() as session:
            with self.assertRaisesRegex(Refused, "no user_prompt_submit"):
                with session.turn("hello"):
                    self.fail("the block ran")
            with self.assertRaisesRegex(Refused, "no before_llm_call"):
                session.model_call([]).run(lambda request: self.fail("the model was called"))

    def test_the_end_of_a_turn_tells_how_it_ended(self):
        seen = []
        hook = "{ type: builtin, command: judge }"
        hooks = self.judged_by(
            lambda input: seen.append((input["hook_event_name"], input.get("reason"))),
            f"hooks:\n  turn_end: {hook}\n  on_error: {hook}\n")
        with hooks.session() as session:
            for error in [ValueError("oh"), KeyboardInterrupt(), Refused("no")]:
                with contextlib.suppress(type(error)), session.turn("go"):
                    raise error
        self.assertEqual(seen, [("on_error", None), ("turn_end", "error"),
                                ("turn_end", "canceled"), ("turn_end", "hook_blocked")])

    def test_a_verdict_of_one_event_comes_as_run_prints_it(self):
        hooks = self.judged_by(lambda input: {"decision": "deny", "reason": "no"})
        verdict = hooks.dispatch("pre_tool_use", {"tool_name": "shell", "tool_input": {}})
        self.assertEqual((verdict["allowed"], verdict["message"]), (False, "no"))
        verdict = hooks.dispatch("pre_tool_use", {"tool_name": 5})
        self.assertIs(verdict["allowed"], False)


class Faults(Case):
    """Whatever breaks, the tool does not run, and the next call works."""

    def denied(self, session, cmd="ls"):
        def tool(cmd):
            self.fail("the tool ran")

        outcome = session.tool_call("shell", {"cmd": cmd}).run(tool)
        self.assertEqual(outcome.end, "denied")
        return outcome.message

    def works(self, session):
        self.assertEqual(session.tool_call("shell", {"cmd": "echo"}).run(shell).end, "ran")

    def test_a_server_that_is_killed_in_a_call_denies_it_and_is_replaced(self):
        def judge(input):
            if input["tool_input"]["cmd"] == "kill":
                os.kill(self.pids()[-1], signal.SIGKILL)
                threading.Event().wait(HANG)

        hooks = self.judged_by(judge)
        with hooks.session() as session, session.turn("go") as turn:
            self.works(session)
            self.assertIn("-9", self.denied(session, "kill"))
            self.works(turn)
            self.assertEqual(len(self.pids()), 2)

    def test_a_server_that_is_killed_while_the_tool_runs_withholds_the_response(self):
        hooks = self.judged_by(lambda input: None)

        def tool(cmd):
            os.kill(self.pids()[-1], signal.SIGKILL)
            return "a secret"

        with hooks.session() as session:
            outcome = session.tool_call("shell", {"cmd": "ls"}).run(tool)
            self.assertEqual((outcome.end, outcome.is_error), ("failed", True))
            self.assertNotIn("secret", repr(outcome))
            self.works(session)

    def test_a_server_that_hangs_denies_at_the_deadline_and_is_replaced(self):
        hooks = self.judged_by(lambda input: None)
        with hooks.session() as session:
            self.works(session)
            os.kill(self.pids()[-1], signal.SIGSTOP)
            hooks.timeout = 0.5
            self.assertIn("within 0.5 seconds", self.denied(session))
            hooks.timeout = HANG
            self.works(session)

    def test_a_slow_hook_denies_at_the_deadline_and_others_go_on(self):
        began, slow = threading.Event(), threading.Event()

        def judge(input):
            if input["tool_input"]["cmd"] == "slow":
                began.set()
                slow.wait(HANG)

        hooks = self.judged_by(judge)
        with hooks.session() as session:
            self.works(session)
            with ThreadPoolExecutor() as pool:
                with self.server_told(hooks, 1000):
                    denied = pool.submit(self.denied, session, "slow")
                    began.wait(HANG)
                while not denied.done():
                    self.works(session)
                self.assertIn("the time for an answer passed", denied.result())
            slow.set()
            self.assertEqual(len(self.pids()), 1)

    def test_a_server_that_talks_nonsense_denies(self):
        for said in ["nonsense", "[]", '{"jsonrpc":"2.0","id":1,"result":null}',
                     '{"jsonrpc":"2.0","id":1,"result":{"next":"run"}}',
                     '{"jsonrpc":"2.0","id":1,"result":{"next":"done"}}',
                     '{"jsonrpc":"2.0","id":1,"error":null}']:
            with self.subTest(said):
                program = self.place / "nonsense"
                program.write_text(f"#!/bin/sh\nread line\necho '{said}'\nexec cat >/dev/null\n")
                program.chmod(0o755)
                session = self.hooks(program=program, timeout=10).session()
                self.denied(session)

    def test_a_missing_program_and_a_broken_file_are_reported(self):
        with self.assertRaisesRegex(HooksError, "can't start"):
            self.hooks(program="/nowhere").session().__enter__()
        with contextlib.redirect_stderr(io.StringIO()):
            with self.assertRaisesRegex(HooksError, "pre_tool_us"):
                self.hooks("pre_tool_us: []").session().__enter__()
            with self.assertRaisesRegex(HooksError, "unknown builtin `judge`"):
                self.hooks().session().__enter__()

    def test_a_builtin_without_a_valid_answer_denies(self):
        def raises(input):
            raise ValueError("oh no")

        cases = [
            (raises, "ValueError: oh no"),
            (lambda: None, "TypeError"),
            (lambda input: "deny", "must be an object|an object"),
            (lambda input: {"decison": "deny"}, "decison"),
            (lambda input: {"decision": "maybe"}, "maybe"),
            (lambda input: object(), "TypeError"),
            (lambda input: float("nan"), "ValueError"),
        ]
        for answer, told in cases:
            with self.subTest(told), self.judged_by(answer) as hooks:
                self.assertRegex(self.denied(hooks.session()), told)

    def test_a_builtin_that_does_not_answer_in_the_hooks_time_denies(self):
        text = GUARD.replace("judge }", "judge, timeout: 100ms }")
        late = threading.Event()
        hooks = self.judged_by(lambda input: late.wait(HANG) and None, text)
        self.assertIn("timed out", self.denied(hooks.session()))
        late.set()

    def test_a_builtin_may_not_take_the_place_of_a_shipped_one(self):
        hooks = self.hooks("hooks: {}")
        hooks.builtin("add_date")(lambda input: None)
        with self.assertRaisesRegex(HooksError, "twice"):
            hooks.builtin("add_date")(lambda input: None)
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertIn("`add_date` is the name of another builtin",
                          self.denied(hooks.session()))

    def test_fifty_calls_at_once(self):
        gate = threading.Barrier(50)

        def judge(input):
            gate.wait(HANG)
            number = input["tool_input"]["cmd"]
            if int(number) % 2:
                return {"decision": "deny", "reason": number}

        hooks = self.judged_by(judge)
        with hooks.session() as session, ThreadPoolExecutor(50) as pool:
            def one(number):
                return session.tool_call("shell", {"cmd": str(number)}).run(shell).for_model

            said = list(pool.map(one, range(50)))
        expected = [f"Tool call denied: {n}" if n % 2 else f"ran {n}" for n in range(50)]
        self.assertEqual(said, expected)

    def test_a_cancelled_task_cancels_its_call(self):
        seen = []
        hook = "{ hooks: { type: builtin, command: judge } }"

        async def main():
            started, ended = asyncio.Event(), asyncio.Event()
            loop = asyncio.get_running_loop()

            def judge(input):
                seen.append((input["hook_event_name"], input.get("reason")))
                loop.call_soon_threadsafe(ended.set)

            hooks = self.judged_by(judge, f"hooks:\n  post_tool_use: {hook}\n")

            async def tool(cmd):
                started.set()
                await asyncio.sleep(HANG)

            call = hooks.session().tool_call("shell", {"cmd": "ls"})
            task = asyncio.create_task(call.run_async(tool))
            await started.wait()
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await asyncio.wait_for(ended.wait(), HANG)

        asyncio.run(main())
        self.assertEqual(seen, [("post_tool_use", "canceled")])

    def test_what_is_too_long_for_the_server_is_denied_or_withheld_at_once(self):
        hooks = self.judged_by(lambda input: None)
        with hooks.session() as session:
            self.assertIn("longer than", self.denied(session, "x" * (9 << 20)))
            outcome = session.tool_call("shell", {"cmd": "ls"}).run(lambda cmd: "x" * (9 << 20))
            self.assertEqual((outcome.end, outcome.is_error), ("failed", True))
            self.assertLess(len(outcome.response), 1000)
            self.works(session)

    def test_closed_hooks_deny(self):
        hooks = self.judged_by(lambda input: None)
        with hooks.session() as session:
            hooks.close()
            self.assertIn("closed", self.denied(session))


@unittest.skipUnless(hasattr(os, "fork"), "Unix sockets")
class Sockets(Case):
    def test_a_running_server_answers_and_its_absence_denies(self):
        import subprocess

        (self.place / "hooks.yaml").write_text(
            GUARD.replace("builtin, command: judge", "rule, deny: no, commands: [rm]"))
        os.chmod(self.place, 0o700)
        path = self.place / "socket"
        command = [self.program, "serve", "--socket", path, "--isolated", "--config", "hooks.yaml"]
        server = subprocess.Popen(command, cwd=self.place, stderr=subprocess.PIPE)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.assertIn(b"listening", server.stderr.readline())
        with Hooks(socket=path, cwd=self.place) as hooks, hooks.session() as session:
            ends = [session.tool_call("shell", {"cmd": cmd}).run(shell).end for cmd in ["ls", "rm"]]
            self.assertEqual(ends, ["ran", "denied"])
            server.kill()
            server.wait()
            self.assertEqual(session.tool_call("shell", {"cmd": "ls"}).run(shell).end, "denied")
        # The server has the hooks of another directory.
        with self.assertRaises(HooksError):
            Hooks(socket=path, isolated=True)


if __name__ == "__main__":
    unittest.main()
