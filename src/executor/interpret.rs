//! What a hook said, read from its exit code and its output.
//!
//! The rules are the table "what a command hook says" of the documentation. Their common sense: a
//! broken hook can only be stricter than it meant to be. A denial or an ask in valid JSON counts at
//! any exit code; an allow, a rewrite or a context only at exit 0.

use super::outcome::Outcome;
use super::select::Bound;
use super::stdout::Stdout;
use crate::event::{ContextMode, Contract};
use crate::registry::{Failure, HandlerError, HandlerResult};
use crate::wire::{Decision, Input, Output};

/// Exit code of a hook that blocks.
const BLOCK: i32 = 2;
/// Exit codes of a shell that can't run or find the program.
const NOT_RUN: [i32; 2] = [126, 127];
/// Exit codes by which a shell says that a signal ended the program it ran.
const SIGNALLED: std::ops::RangeInclusive<i32> = 129..=192;

/// What is said of a hook that printed more than its answer.
const NOISE: &str = "it printed text before its JSON answer, of which only the denial was read; \
                     print nothing but the JSON";

/// Reads one hook's result.
pub(super) struct Interpreter<'a> {
    pub(super) contract: &'static Contract,
    pub(super) bound: &'a Bound,
    pub(super) input: &'a Input,
}

impl Interpreter<'_> {
    pub(super) fn read(&self, result: Result<HandlerResult, HandlerError>) -> Outcome {
        match result {
            Err(error) => {
                let stdout = Stdout::read(&error.stdout, self.may_block(), self.contract);
                let mut outcome = match stdout {
                    Stdout::Answer(output) | Stdout::Noisy(output)
                        if error.failure == Failure::Protocol =>
                    {
                        self.misread(&error.message, Some(Box::new(output)))
                    }
                    // It denied, and failed only afterwards.
                    Stdout::Answer(output) | Stdout::Noisy(output)
                        if output.decision > Some(Decision::Allow) =>
                    {
                        let mut outcome = self.answered(verdict_only(output));
                        outcome.warnings.push(error.message);
                        outcome
                    }
                    Stdout::Malformed(_, denial) => self.misread(&error.message, denial),
                    _ => self.failed(&error.message),
                };
                outcome.stderr = lossy(&error.stderr);
                outcome
            }
            Ok(mut result) => {
                let warnings = std::mem::take(&mut result.warnings);
                let stderr = lossy(&result.stderr);
                let mut outcome = match result.output.take() {
                    Some(output) => self.answered(output),
                    None => self.exited(&result, stderr.trim()),
                };
                outcome.warnings.splice(0..0, warnings);
                outcome.stderr = stderr;
                outcome
            }
        }
    }

    /// Reads what a program said by its exit code and its output.
    fn exited(&self, result: &HandlerResult, stderr: &str) -> Outcome {
        let code = result.exit_code;
        let stdout = Stdout::read(&result.stdout, self.may_block(), self.contract);
        let mut outcome = match (code, stdout) {
            (BLOCK, stdout) => self.blocked(stdout, stderr),
            // Stricter than nothing is always heard, whatever else went wrong.
            (_, Stdout::Noisy(output)) => {
                let mut outcome = self.answered(verdict_only(output));
                outcome.warnings.push(NOISE.to_owned());
                outcome
            }
            (1.., Stdout::Malformed(problem, Some(denial))) => self.misread(&problem, Some(denial)),
            (1.., Stdout::Answer(output)) if output.decision > Some(Decision::Allow) => {
                self.answered(verdict_only(output))
            }
            (code, _) if NOT_RUN.contains(&code) => self.failed(&match last_line(stderr) {
                "" => format!("exit code {code}: the program was not found or can't be run"),
                line => format!("exit code {code}: {line}"),
            }),
            (code, _) if SIGNALLED.contains(&code) => self.failed(&format!(
                "exit code {code}: a signal ended its program (number {})",
                code - 128
            )),
            (0, Stdout::Answer(output)) => self.answered(output),
            (0, Stdout::Malformed(problem, denial)) => self.misread(&problem, denial),
            (0, Stdout::Text(_)) if self.bound.hook.strict_output => {
                self.failed("its output is not one JSON object, as `strict_output` demands")
            }
            (0, Stdout::Text(text)) if self.takes_text() => self.answered(Output::context(text)),
            (0, Stdout::Text(text)) => Outcome { stdout: text, ..Outcome::none(self.bound.index) },
            (0, Stdout::Empty) => Outcome::none(self.bound.index),
            (code, _) => self.erred(code, stderr),
        };
        outcome.exit_code = outcome.exit_code.or(Some(code));
        outcome
    }

    /// Returns whether the hook may block the event; some can in the words of an agent alone.
    pub(super) fn may_block(&self) -> bool {
        self.contract.may_block
            || self.bound.hook.dialect.is_some_and(|it| it.may_block(self.contract.event))
    }

    /// Returns whether plain text is context for the model.
    fn takes_text(&self) -> bool {
        self.contract.context == ContextMode::Text
            && self.bound.hook.dialect.is_none_or(|it| it.takes_text(self.contract.event))
    }

    /// An answer that can't be read: a failure; but a denial in it counts, whatever else is wrong.
    fn misread(&self, problem: &str, denial: Option<Box<Output>>) -> Outcome {
        let failed = self.failed(problem);
        let Some(denial) = denial.filter(|_| self.may_block()) else { return failed };
        let mut outcome = self.answered(verdict_only(*denial));
        if outcome.output.decision.is_none() || outcome.output.decision < failed.output.decision {
            return failed;
        }
        let text = || format!("hook {} failed: {problem}", self.bound.title());
        outcome.output.reason.get_or_insert_with(text);
        Outcome {
            status: failed.status,
            error: failed.error,
            exit_code: failed.exit_code,
            ..outcome
        }
    }

    /// Exit code 2.
    fn blocked(&self, stdout: Stdout, stderr: &str) -> Outcome {
        let (output, text) = match stdout {
            Stdout::Answer(output) | Stdout::Noisy(output) => (output, String::new()),
            Stdout::Text(text) => (Output::default(), text),
            Stdout::Empty | Stdout::Malformed(..) => (Output::default(), String::new()),
        };
        let spoken = [output.reason.clone().unwrap_or_default(), stderr.to_owned(), text];
        let reason = spoken.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| {
            format!("blocked by hook {}, which gave no reason", self.bound.title())
        });
        let mut answer = verdict_only(output);
        answer.decision = Some(Decision::Deny);
        answer.reason = Some(reason);
        let mut outcome = self.answered(answer);
        outcome.exit_code = Some(BLOCK);
        outcome
    }
}

/// Returns whether a program that ended so has denied, asked or failed.
pub(crate) fn is_strict(code: i32, stdout: &[u8], contract: &Contract) -> bool {
    code == BLOCK
        || NOT_RUN.contains(&code)
        || SIGNALLED.contains(&code)
        || match Stdout::read(stdout, contract.may_block, contract) {
            Stdout::Answer(output) => output.decision > Some(Decision::Allow),
            Stdout::Noisy(_) | Stdout::Malformed(..) => true,
            Stdout::Empty | Stdout::Text(_) => false,
        }
}

/// Keeps the part of an answer that also counts when the rest can't be trusted.
fn verdict_only(output: Output) -> Output {
    Output {
        decision: output.decision.filter(|decision| *decision > Decision::Allow),
        reason: output.reason,
        stop: output.stop,
        system_message: output.system_message,
        suppress_output: output.suppress_output,
        unknown_keys: output.unknown_keys,
        ..Output::default()
    }
}

pub(super) fn last_line(text: &str) -> &str {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{Command, Hook};
    use crate::event::Event;
    use crate::registry::{BoxFuture, Call, Failure, Handler};
    use crate::wire::{HookStatus, JsonObject};

    struct Never;

    impl Handler for Never {
        fn run<'a>(
            &'a self,
            _: &'a Call<'a>,
        ) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
            Box::pin(std::future::pending())
        }
    }

    fn read(event: Event, code: i32, stdout: &str, stderr: &str) -> Outcome {
        let hook = Hook::new(event, "command", Command::Text("guard".into()));
        let bound = Bound { hook: Arc::new(hook), handler: Arc::new(Never), index: 0, identity: 0 };
        let input = Input::for_tool("shell", JsonObject::new());
        Interpreter { contract: event.contract(), bound: &bound, input: &input }
            .read(Ok(HandlerResult::exited(code, stdout.into(), stderr.into())))
    }

    #[test]
    fn the_table_of_what_a_program_says() {
        use Decision::{Allow, Ask, Deny};
        use Event::{PreToolUse as Guard, Stop as Observer, UserPromptSubmit as Prompt};
        use HookStatus::{Blocked, Error, Failed, Ok};
        let deny = r#"{"decision":"deny","reason":"J"}"#;
        let ask = r#"{"decision":"ask","reason":"J"}"#;
        let allow = r#"{"decision":"allow"}"#;
        let noisy = "loading\n{\"decision\":\"deny\",\"reason\":\"J\"}";
        let cases = [
            (Guard, 0, "", "", Ok, None, ""),
            (Guard, 0, "some text", "", Ok, None, ""),
            (Guard, 0, allow, "", Ok, Some(Allow), ""),
            (Guard, 0, deny, "", Blocked, Some(Deny), "J"),
            (Guard, 0, ask, "", Ok, Some(Ask), "J"),
            (Prompt, 0, ask, "", Blocked, Some(Deny), "J"),
            (Guard, 0, noisy, "", Blocked, Some(Deny), "J"),
            (
                Guard,
                0,
                "\u{feff}{\"decision\":\"deny\",\"reason\":\"J\"}",
                "",
                Blocked,
                Some(Deny),
                "J",
            ),
            (
                Guard,
                0,
                "log\n  {\"decision\":\"deny\",\"reason\":\"J\"}\nbye",
                "",
                Blocked,
                Some(Deny),
                "J",
            ),
            (
                Guard,
                0,
                "{\"decision\":\"deny\",\"reason\":\"J\"}\nbye",
                "",
                Blocked,
                Some(Deny),
                "J",
            ),
            (Guard, 0, "log\n{\"decison\":\"deny\"}", "", Failed, Some(Deny), "did you mean"),
            (Guard, 0, "{\"decision\":", "", Failed, Some(Deny), "not valid JSON"),
            (Guard, 0, "{\"decision\":\"nope\"}", "", Failed, Some(Deny), "can't be `nope`"),
            (Guard, 0, "{\"decison\":\"deny\"}", "", Failed, Some(Deny), "did you mean `decision`"),
            (Guard, 0, "{} {}", "", Failed, Some(Deny), "not valid JSON"),
            (Prompt, 0, "{\"decision\":", "", Failed, None, ""),
            (Prompt, 0, "\0{\0\"\0d\0e\0n\0y", "", Failed, None, ""),
            (Observer, 0, "{\"decision\":", "", Failed, None, ""),
            (Guard, 2, "", "E", Blocked, Some(Deny), "E"),
            (Guard, 2, "T", "", Blocked, Some(Deny), "T"),
            (Guard, 2, deny, "E", Blocked, Some(Deny), "J"),
            (Guard, 2, allow, "E", Blocked, Some(Deny), "E"),
            (Guard, 2, "{broken", "E", Blocked, Some(Deny), "E"),
            (Guard, 2, "", "", Blocked, Some(Deny), "gave no reason"),
            (Prompt, 2, "", "E", Blocked, Some(Deny), "E"),
            (Observer, 2, "", "E", Ok, None, "E"),
            (Guard, 1, "", "E", Error, None, ""),
            (Guard, 1, allow, "", Error, None, ""),
            (Guard, 1, deny, "", Blocked, Some(Deny), "J"),
            (Guard, 1, ask, "", Ok, Some(Ask), "J"),
            (Prompt, 7, "", "", Error, None, ""),
            (Observer, 1, "", "", Error, None, ""),
            (Guard, 126, "", "", Failed, Some(Deny), "can't be run"),
            (Guard, 127, "", "sh: x: not found", Failed, Some(Deny), "sh: x: not found"),
            (Guard, 127, deny, "", Blocked, Some(Deny), "J"),
            (Prompt, 127, "", "", Failed, None, ""),
            (Guard, 139, "", "", Failed, Some(Deny), "signal ended its program (number 11)"),
            (Prompt, 130, "", "", Failed, None, ""),
            (Guard, 139, deny, "", Blocked, Some(Deny), "J"),
            (Guard, 255, "", "", Error, None, ""),
        ];
        for (event, code, stdout, stderr, status, decision, reason) in cases {
            let outcome = read(event, code, stdout, stderr);
            let case = format!("{event}, exit {code}, {stdout:?}, {stderr:?}: {outcome:?}");
            assert_eq!(outcome.status, status, "{case}");
            assert_eq!(outcome.output.decision, decision, "{case}");
            let said = outcome.output.reason.clone().unwrap_or_default();
            assert!(said.contains(reason) && (reason.is_empty() == said.is_empty()), "{case}");
            let open = matches!(status, Error | Failed) && decision.is_none();
            assert_eq!(outcome.failed_open, open, "{case}");
        }
    }

    #[test]
    fn text_is_context_where_the_event_takes_text() {
        let context = |event, code, text| read(event, code, text, "").output.additional_context;
        assert_eq!(context(Event::SessionStart, 0, " hello \n").as_deref(), Some("hello"));
        assert_eq!(context(Event::PreToolUse, 0, "hello"), None);
        assert_eq!(read(Event::PreToolUse, 0, "hello", "").stdout, "hello");
        assert_eq!(context(Event::SessionStart, 1, "hello"), None);
        // Context may well end in an example of JSON.
        let example = "Answer so:\n{\"reason\": \"...\"}";
        assert_eq!(context(Event::UserPromptSubmit, 0, example).as_deref(), Some(example));
    }

    #[test]
    fn a_flood_of_lines_is_read_in_no_time() {
        // Each of these took minutes once, in which no timeout and no signal was heard.
        for filling in
            ["\n", " \n", "\u{a0}", "{\n", " {\"a\":\n", "{\"a\":", "{}", "{ ", "{\"a\":1}"]
        {
            let text = format!("x{}x", filling.repeat((1 << 20) / filling.len()));
            let started = std::time::Instant::now();
            // What begins like an answer and is none is a failure.
            let begins = filling.contains('{') && !matches!(filling, "{}" | "{ ");
            let decision = begins.then_some(Decision::Deny);
            assert_eq!(read(Event::PreToolUse, 0, &text, "").output.decision, decision);
            assert!(started.elapsed().as_secs() < 60, "{filling:?}: {:?}", started.elapsed());
            let denied = format!("{text}\n{{\"decision\":\"deny\"}}");
            let outcome = read(Event::PreToolUse, 0, &denied, "");
            assert_eq!(outcome.output.decision, Some(Decision::Deny), "{filling:?}");
        }
        let long = format!("{{\"{}\":1}}", "x".repeat(1 << 20));
        let started = std::time::Instant::now();
        assert_eq!(read(Event::PreToolUse, 0, &long, "").output.decision, None);
        assert!(started.elapsed().as_secs() < 60, "a long key: {:?}", started.elapsed());
    }

    #[test]
    fn a_denial_counts_though_the_hook_failed_after_it() {
        let denial = br#"{"decision":"deny","reason":"J"}"#.to_vec();
        let failed = HandlerError::new(Failure::TimedOut, "too late").with_stdout(denial);
        let hook = Hook::new(Event::UserPromptSubmit, "command", Command::Text("guard".into()));
        let bound = Bound { hook: Arc::new(hook), handler: Arc::new(Never), index: 0, identity: 0 };
        let contract = Event::UserPromptSubmit.contract();
        let input = Input::default();
        let outcome = Interpreter { contract, bound: &bound, input: &input }.read(Err(failed));
        assert_eq!(outcome.output.decision, Some(Decision::Deny));
        assert_eq!(outcome.warnings, ["too late"]);
    }
}
