//! Reads a hook's answer from its exit code and its output.
//!
//! The rules are the table "What it answers" in `docs/command-hooks.md`. A denial or an ask in
//! valid JSON counts at any exit code, but an allow, a rewrite or a context only at exit 0.
//!
//! A failure means what the hook's `on_error` says, or else the event's contract.

use std::time::Instant;

use tokio::time::timeout_at;

use super::outcome::Outcome;
use super::select::Bound;
use crate::answer::{ExitCode, Stdout, Suspect};
use crate::config::{FailedFile, OnError};
use crate::event::{ContextMode, Contract, Event, FailureMode, Permission};
use crate::handler::{Exited, HandlerAnswer, HandlerError, HandlerResult};
use crate::text::cause_line;
use crate::wire::{Decision, HookStatus, Input, Output};

const KEPT_BACK: &str = "what it wrote may hold the response and is shown with `--verbose` only";
const READ_TOO_LATE: &str = "its answer is so long that it could not be read in time; write less";

/// Reads one hook's result.
pub(super) struct Interpreter<'a> {
    pub(super) contract: &'static Contract,
    pub(super) bound: &'a Bound,
    pub(super) input: &'a Input,
    /// Whether an approval may come with new arguments: the hooks before the tool judge them.
    pub(super) may_approve_with_arguments: bool,
}

impl Interpreter<'_> {
    /// Reads the result of a hook until `stop`, at most.
    pub(super) async fn read(
        &self,
        result: Result<HandlerResult, HandlerError>,
        stop: Instant,
    ) -> Outcome {
        let HandlerResult { answer, warnings, usage } = match result {
            Ok(result) => result,
            Err(error) => return self.read_error(error, stop).await,
        };
        let mut outcome = match answer {
            HandlerAnswer::Output(output) => self.answered(output),
            HandlerAnswer::Exited(exited) => self.read_exited(exited, stop).await,
            HandlerAnswer::Each(answers) => self.read_each(answers, stop).await,
        };
        outcome.warnings.splice(0..0, warnings);
        Outcome { usage, ..outcome }
    }

    /// The hook's limit is reached. The user sees it where the hook could have kept the model at work.
    pub(super) fn limited(&self, why: String) -> Outcome {
        let notice = format!("hook {} was not run: {why}", self.bound.title());
        let mut outcome = Outcome::skipped(why);
        if self.contract.may_continue {
            outcome.notices.push(notice);
        }
        outcome
    }

    /// Reads the answers of a program that ran once for each file. They count like several answers of one
    /// hook, but an allow must be one for each file, and rewrites must agree.
    async fn read_each(
        &self,
        answers: Vec<Result<Exited, HandlerError>>,
        stop: Instant,
    ) -> Outcome {
        let mut all: Option<Outcome> = None;
        let (mut all_allow, mut response) = (true, None);
        for answer in answers {
            let mut next = match answer {
                Ok(exited) => self.read_exited(exited, stop).await,
                Err(error) => self.read_error(error, stop).await,
            };
            all_allow &= next.output.decision == Some(Decision::Allow);
            if let Some(new) = next.output.updated_tool_response.take()
                && *response.get_or_insert_with(|| new.clone()) != new
            {
                const DIFFER: &str =
                    "its answers for the files of one call rewrite the response differently";
                next = self.failed_unless_stricter(&next.output, DIFFER).unwrap_or(next);
            }
            all = Some(match all {
                Some(before) => before.with_next(next),
                None => next,
            });
        }
        let mut all = all.unwrap_or_else(Outcome::none);
        all.output.updated_tool_response = response;
        if !all_allow {
            all.drop_permission("it is not for every file of the call");
        }
        all
    }

    async fn read_exited(&self, exited: Exited, stop: Instant) -> Outcome {
        let Exited { code, stdout, stderr, .. } = exited;
        let (stdout, stderr) = (self.stdout(stdout, stop).await, lossy(&stderr));
        let stdout = stdout.unwrap_or_else(|| Stdout::Malformed(READ_TOO_LATE.to_owned()));
        let outcome = self.exited(code, stdout, stderr.trim());
        Outcome { stderr, ..outcome }
    }

    async fn read_error(&self, error: HandlerError, stop: Instant) -> Outcome {
        let outcome = match self.stdout(error.stdout, stop).await {
            // It denied before it failed.
            Some(Stdout::Answer(output)) if output.denies_or_asks() => {
                let mut outcome = self.answered(verdict_only(*output));
                outcome.warnings.push(error.message);
                outcome
            }
            _ => self.failed_with_words(&error.message),
        };
        Outcome { stderr: lossy(&error.stderr), usage: error.usage, ..outcome }
    }

    /// Reads what a program wrote to stdout; `None` if it can't be read in time. A long text is read on
    /// another thread: what the other hooks of the event decide must not wait for it.
    async fn stdout(&self, bytes: Vec<u8>, stop: Instant) -> Option<Stdout> {
        let suspect = self.suspect();
        // The longest answer that is read where the other hooks of the event run, in bytes.
        if bytes.len() <= (64 << 10) {
            return Some(Stdout::read(&bytes, suspect));
        }
        let reading = tokio::task::spawn_blocking(move || Stdout::read(&bytes, suspect));
        timeout_at(stop.into(), reading).await.ok()?.ok()
    }

    /// Reads what a program said by its exit code and its output.
    fn exited(&self, code: i32, stdout: Stdout, stderr: &str) -> Outcome {
        let mut outcome = match (ExitCode::of(code), stdout) {
            (ExitCode::Blocks, stdout) => {
                return Outcome { exit_code: Some(code), ..self.blocked(stdout, stderr) };
            }
            // A denial or an ask counts, whatever failed afterwards.
            (exit, Stdout::Answer(output))
                if exit != ExitCode::Success && output.denies_or_asks() =>
            {
                self.answered(verdict_only(*output))
            }
            (ExitCode::NotRun, _) => self.failed(&match self.cause(stderr) {
                "" => format!("exit code {code}: the program was not found or can't be run"),
                line if code == 126 => format!(
                    "exit code {code}: {line}; check that the file is executable (`chmod +x`)"
                ),
                line => format!("exit code {code}: {line}"),
            }),
            (ExitCode::Signal(number), _) => self.failed(&format!(
                "exit code {code}: a signal ended its program (number {number})"
            )),
            (_, Stdout::Malformed(problem)) => self.failed_with_words(&problem),
            (_, Stdout::Background) if self.contract.may_block => self.failed(&format!(
                "it asked to go on in the background (`{{\"async\": true}}`), but `{}` waits for its \
                 answer; let it answer here, or move it to an event that can't be blocked",
                self.contract.event
            )),
            // Whether it was still running when its line was read is chance, and so is its exit code.
            (_, Stdout::Background) => Outcome {
                status: HookStatus::Background,
                exit_code: Some(0),
                ..Outcome::none()
            },
            (ExitCode::Success, Stdout::Answer(output)) if output.has_only_a_reason() => {
                self.failed_with_words("its JSON answers nothing: it has a reason and no decision")
            }
            (ExitCode::Success, Stdout::Answer(output)) => self.answered(output),
            (_, Stdout::Answer(output)) if let Some(problem) = output.lacks_an_answer(self.input) => {
                self.failed_with_words(&problem)
            }
            (ExitCode::Success, Stdout::Text(_)) if self.bound.hook.strict_output => {
                self.failed("its output is not one JSON object, as `strict_output` demands")
            }
            (ExitCode::Success, Stdout::Text(text)) if self.takes_text() => {
                self.answered(Box::new(Output::context(text)))
            }
            (ExitCode::Success, Stdout::Text(_)) if self.contract.withholds() => self.failed(
                "its output is not JSON: print {\"updated_tool_response\": ...} to rewrite the \
                 response, or nothing",
            ),
            (ExitCode::Success, Stdout::Text(text)) => {
                Outcome { stdout: text, ..Outcome::none() }
            }
            (ExitCode::Success, Stdout::Empty) => Outcome::none(),
            _ => self.erred(code, stderr),
        };
        outcome.exit_code = outcome.exit_code.or(Some(code));
        outcome
    }

    /// Returns which text counts as a failed answer: all JSON where a failure of the hook denies or asks,
    /// and a denial where one has an effect.
    fn suspect(&self) -> Suspect {
        let Contract { failure, may_block, may_continue, .. } = *self.contract;
        match self.bound.hook.on_error {
            Some(OnError::Block | OnError::Ask) => Suspect::Json,
            _ if failure != FailureMode::Open => Suspect::Json,
            _ if may_block || may_continue => Suspect::Denial,
            _ => Suspect::Nothing,
        }
    }

    /// Returns whether exit code 2 alone has no effect although a denial in JSON has one.
    fn ignores_exit_2(&self) -> bool {
        let event = self.contract.event;
        let dialect = self.bound.dialect;
        let continues = dialect.is_some_and(|dialect| dialect.exit_code_continues(event));
        self.contract.may_continue && !continues
    }

    /// Returns whether plain text is context for the model.
    fn takes_text(&self) -> bool {
        let (event, dialect) = (self.contract.event, self.bound.dialect);
        self.contract.context == ContextMode::Text
            && dialect.is_none_or(|dialect| dialect.takes_text(event))
    }

    /// Exit code 2.
    fn blocked(&self, stdout: Stdout, stderr: &str) -> Outcome {
        let (output, text) = match stdout {
            Stdout::Answer(output) => (*output, String::new()),
            Stdout::Text(text) => (Output::default(), text),
            Stdout::Malformed(problem) => (
                Output::default(),
                format!(
                    "blocked by hook {}, whose reason can't be read: {problem}",
                    self.bound.title()
                ),
            ),
            Stdout::Empty | Stdout::Background => (Output::default(), String::new()),
        };
        let reason = match [output.reason.as_deref().unwrap_or_default(), stderr, &text] {
            [reason, _, _] if !reason.is_empty() => reason.to_owned(),
            [_, "", ""] => format!("blocked by hook {}, which gave no reason", self.bound.title()),
            _ if self.keeps_words_back() => {
                format!("blocked by hook {}: {KEPT_BACK}", self.bound.title())
            }
            [_, "", text] => text.to_owned(),
            [_, stderr, _] => stderr.to_owned(),
        };
        let mut answer = verdict_only(output);
        answer.reason = Some(reason);
        let mut ignored = None;
        if self.ignores_exit_2() && answer.decision != Some(Decision::Deny) {
            ignored = Some(format!(
                "exit code 2 has no effect at `{}`; print {{\"decision\": \"block\", \"reason\": \"...\"}} \
                 to keep the model at work",
                self.contract.event
            ));
        }
        if ignored.is_none() {
            answer.decision = Some(Decision::Deny);
        }
        let mut outcome = match &ignored {
            Some(problem) if self.bound.hook.strict_output => self.failed(problem),
            _ => self.answered(answer),
        };
        let title = self.bound.title();
        outcome.notices.extend(ignored.map(|problem| format!("hook {title}: {problem}")));
        outcome
    }

    /// The hook could not give an answer. That of one that must not run, as of a file that can't be
    /// loaded, is never that it is late.
    pub(super) fn failed(&self, cause: &str) -> Outcome {
        let untrusted = self.bound.hook.untrusted.as_ref();
        let cause = untrusted.map_or(cause, |untrusted| &untrusted.cause);
        let on_error = self.bound.hook.on_error.unwrap_or(match self.contract.failure {
            FailureMode::Open => OnError::Warn,
            FailureMode::Ask => OnError::Ask,
            FailureMode::Closed => OnError::Block,
        });
        let mut outcome = self.failed_as(on_error, cause, HookStatus::Failed);
        if outcome.failed_open
            && self.bound.hook.on_error.is_none()
            && !self.contract.withholds()
            && let Some(output) = self.bound.handler.on_failure(self.contract.event)
        {
            outcome.failed_open = false;
            outcome.withholds = output.rewrites();
            *outcome.output = output;
        }
        let remedy = untrusted.map(|untrusted| &*untrusted.remedy);
        outcome.notices.extend(remedy.or(self.bound.handler.remedy()).map(str::to_owned));
        // The exit code that docker-agent shows for a hook that could not give an answer.
        outcome.exit_code = Some(-1);
        outcome
    }

    /// The hook could not give an answer, and `cause` may repeat what it wrote.
    pub(super) fn failed_with_words(&self, cause: &str) -> Outcome {
        // A hook that must not run wrote nothing: the cause is its file's.
        if !self.keeps_words_back() || self.bound.hook.untrusted.is_some() {
            return self.failed(cause);
        }
        let mut outcome = self.failed(KEPT_BACK);
        // The report has it; the model and the user read the reason.
        outcome.error = Some(cause.to_owned());
        outcome
    }

    /// Returns whether only the hook's valid answer is shown, and nothing else that it wrote: a response
    /// that is still to be redacted may stand in it.
    pub(super) fn keeps_words_back(&self) -> bool {
        self.contract.event == Event::ToolResponseTransform
    }

    /// An exit code other than 0 and 2: the hook's own error, which by convention blocks nothing.
    pub(super) fn erred(&self, code: i32, stderr: &str) -> Outcome {
        let cause = match self.cause(stderr) {
            "" => format!("exit code {code}"),
            line => format!("exit code {code}: {line}"),
        };
        let hook = &self.bound.hook;
        let on_error = hook.on_error.or(hook.on_exit_code).unwrap_or(OnError::Warn);
        let mut outcome = self.failed_as(on_error, &cause, HookStatus::Error);
        outcome.notices.extend(self.bound.handler.remedy().map(str::to_owned));
        outcome.exit_code = Some(code);
        outcome
    }

    /// Returns the cause of a failure in what a program wrote to stderr.
    pub(super) fn cause<'s>(&self, stderr: &'s str) -> &'s str {
        match cause_line(stderr) {
            "" => "",
            _ if self.keeps_words_back() => KEPT_BACK,
            line => line,
        }
    }

    /// Returns the failure for a fault in an answer, or `None` if the answer is stricter than the
    /// failure and therefore counts.
    pub(super) fn failed_unless_stricter(&self, output: &Output, cause: &str) -> Option<Outcome> {
        let failed = self.failed_with_words(cause);
        let stricter =
            output.decision > Some(Decision::Allow) && output.decision > failed.output.decision;
        if stricter { None } else { Some(failed) }
    }

    fn failed_as(&self, on_error: OnError, cause: &str, status: HookStatus) -> Outcome {
        let hook = &self.bound.hook;
        let (text, cause) = if hook.is_failed_file() {
            let text = FailedFile::message_at(&hook.location, cause);
            (text.clone(), text)
        } else {
            (format!("hook {} failed: {cause}", self.bound.title()), cause.to_owned())
        };
        let mut outcome = Outcome { status, error: Some(cause), ..Outcome::none() };
        let decision = match on_error {
            OnError::Block => Some(Decision::Deny),
            OnError::Ask if self.contract.permission == Permission::None => Some(Decision::Deny),
            OnError::Ask => Some(Decision::Ask),
            OnError::Warn | OnError::Ignore => None,
        };
        if let Some(decision) = decision.filter(|_| self.contract.may_block) {
            outcome.output.decision = Some(decision);
            outcome.output.reason = Some(text);
            outcome.withholds = self.contract.withholds();
            return outcome;
        }
        outcome.failed_open = true;
        if on_error != OnError::Ignore {
            outcome.notices.push(text);
        }
        outcome
    }
}

/// Keeps the part of an answer that also counts when the rest can't be trusted.
fn verdict_only(output: Output) -> Box<Output> {
    Box::new(Output {
        decision: output.decision.filter(|decision| *decision > Decision::Allow),
        reason: output.reason,
        stop: output.stop,
        system_message: output.system_message,
        suppress_output: output.suppress_output,
        unknown_keys: output.unknown_keys,
        ..Output::default()
    })
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_cause_of_a_crash_is_the_line_that_names_the_error() {
        for (stderr, cause) in [
            (
                "node:internal\n  throw err;\n\nError: Cannot find module 'x'\n    at y\n\nNode.js v20\n",
                "Error: Cannot find module 'x'",
            ),
            ("Traceback:\n    raise ValueError('a')\nValueError: a\n", "ValueError: a"),
            ("starting\nsh: no-such: not found\n\n", "sh: no-such: not found"),
            ("\n", ""),
        ] {
            assert_eq!(cause_line(stderr), cause, "{stderr}");
        }
    }
    use crate::config::{Command, Hook};
    use crate::event::Event;
    use crate::handler::{Failure, Silent};
    use crate::wire::JsonObject;
    use Decision::{Allow, Ask, Deny};
    use Event::{
        PreToolUse as Guard, SessionStart as Started, Stop as Observer, UserPromptSubmit as Prompt,
    };
    use HookStatus::{Background, Blocked, Error, Failed, Ok};

    fn read(event: Event, code: i32, stdout: &str, stderr: &str) -> Outcome {
        read_as(None, event, code, stdout, stderr)
    }

    fn bound(hook: Hook) -> Bound {
        let (hook, handler) = (Arc::new(hook), Arc::new(Silent));
        Bound { hook, handler, identity: 0, counter: None, dialect: None }
    }

    fn read_as(
        on_error: Option<OnError>,
        event: Event,
        code: i32,
        stdout: &str,
        stderr: &str,
    ) -> Outcome {
        let mut hook = Hook::new(event, "command", Command::Text("guard".into()));
        hook.on_error = on_error;
        let bound = bound(hook);
        let input = Input::for_tool("shell", JsonObject::new());
        let result = Exited::new(code, stdout.into(), stderr.into()).into();
        let interpreter = Interpreter {
            contract: event.contract(),
            bound: &bound,
            input: &input,
            may_approve_with_arguments: false,
        };
        interpreted(&interpreter, Result::Ok(result))
    }

    fn interpreted(
        interpreter: &Interpreter<'_>,
        result: Result<HandlerResult, HandlerError>,
    ) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let stop = Instant::now() + std::time::Duration::from_mins(1);
        runtime.block_on(interpreter.read(result, stop))
    }

    type Case =
        (Event, i32, &'static str, &'static str, HookStatus, Option<Decision>, &'static str);

    fn check(cases: &[Case]) {
        for &(event, code, stdout, stderr, status, decision, reason) in cases {
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

    const DENY: &str = r#"{"decision":"deny","reason":"J"}"#;
    const ASK: &str = r#"{"decision":"ask","reason":"J"}"#;
    const ALLOW: &str = r#"{"decision":"allow"}"#;
    const NOISY: &str = "loading\n{\"decision\":\"deny\",\"reason\":\"J\"}";

    #[test]
    fn the_table_of_exit_codes() {
        check(&[
            (Guard, 2, "", "E", Blocked, Some(Deny), "E"),
            (Guard, 2, "T", "", Blocked, Some(Deny), "T"),
            (Guard, 2, DENY, "E", Blocked, Some(Deny), "J"),
            (Guard, 2, ALLOW, "E", Blocked, Some(Deny), "E"),
            (Guard, 2, "{broken", "E", Blocked, Some(Deny), "E"),
            (Guard, 2, "{broken", "", Blocked, Some(Deny), "not valid JSON"),
            (Guard, 2, r#"{"reason":"J","level":9}"#, "", Blocked, Some(Deny), "J"),
            (Guard, 2, "", "", Blocked, Some(Deny), "gave no reason"),
            (Prompt, 2, "", "E", Blocked, Some(Deny), "E"),
            (Observer, 2, "", "E", Ok, None, "E"),
            (Guard, 1, "", "E", Error, None, ""),
            (Guard, 1, ALLOW, "", Error, None, ""),
            (Guard, 1, DENY, "", Blocked, Some(Deny), "J"),
            (Guard, 1, ASK, "", Ok, Some(Ask), "J"),
            (Guard, 1, r#"{"permission":"deny"}"#, "", Failed, Some(Deny), "unknown key"),
            (Guard, 1, r#"{"decision":"#, "", Failed, Some(Deny), "not valid JSON"),
            (Prompt, 7, "", "", Error, None, ""),
            (Observer, 1, "", "", Error, None, ""),
            (Guard, 126, "", "", Failed, Some(Deny), "can't be run"),
            (
                Guard,
                126,
                "",
                "sh: x: denied",
                Failed,
                Some(Deny),
                "denied; check that the file is exec",
            ),
            (Guard, 127, "", "sh: x: not found", Failed, Some(Deny), "sh: x: not found"),
            (Guard, 127, DENY, "", Blocked, Some(Deny), "J"),
            (Prompt, 127, "", "", Failed, None, ""),
            (Guard, 139, "", "", Failed, Some(Deny), "signal ended its program (number 11)"),
            (Prompt, 130, "", "", Failed, None, ""),
            (Guard, 139, DENY, "", Blocked, Some(Deny), "J"),
            (Guard, 128, "", "", Error, None, ""),
            (Guard, 129, "", "", Failed, Some(Deny), "(number 1)"),
            (Guard, 192, "", "", Failed, Some(Deny), "(number 64)"),
            (Guard, 193, "", "", Error, None, ""),
            (Guard, 255, "", "", Error, None, ""),
            // As Windows tells of a crash.
            (Guard, -1_073_741_819, "", "", Error, None, ""),
            (Guard, -1_073_741_819, DENY, "", Blocked, Some(Deny), "J"),
        ]);
    }

    #[test]
    fn what_a_hook_wrote_is_not_told_where_a_response_is_still_to_be_redacted() {
        let event = Event::ToolResponseTransform;
        let secret = "ghp_0123";
        let words = format!("failed on {secret}");
        let malformed = format!("{{\"{secret}\": 1, \"{secret}\": 2}}");
        let printed_back = format!("{{\"session_id\": \"s\", \"{secret}\": 1}}");
        let answers = [
            (0, &*malformed, ""),
            (0, &printed_back, ""),
            (1, "", &*words),
            (1, &printed_back, &words),
            (2, "", &words),
            (2, &words, ""),
            (2, &malformed, ""),
            (127, "", &words),
        ];
        for on_error in [None, Some(OnError::Warn), Some(OnError::Block)] {
            for (code, stdout, stderr) in answers {
                let outcome = read_as(on_error, event, code, stdout, stderr);
                let told = format!("{:?} {:?}", outcome.output, outcome.notices);
                assert!(!told.contains(secret), "{code} {stdout} {stderr}: {told}");
            }
            let hook = Hook { on_error, ..Hook::new(event, "process", Command::Text("p".into())) };
            let bound = bound(hook);
            let input = Input::default();
            let interpreter = Interpreter {
                contract: event.contract(),
                bound: &bound,
                input: &input,
                may_approve_with_arguments: false,
            };
            for failure in [Failure::Protocol, Failure::Panic, Failure::TimedOut, Failure::Start] {
                let error = HandlerError::new(failure, words.clone());
                let outcome = interpreted(&interpreter, Err(error));
                let told = format!("{:?} {:?}", outcome.output, outcome.notices);
                assert!(!told.contains(secret), "{told}");
                assert_eq!(outcome.error.as_ref(), Some(&words), "{outcome:?}");
            }
        }
        // The reason in a valid answer is shown.
        let answer = read(event, 2, r#"{"reason": "it holds a key"}"#, &words);
        assert_eq!(answer.output.reason.as_deref(), Some("it holds a key"));
    }

    #[test]
    fn the_table_of_answers() {
        let misplaced =
            r#"{"hookSpecificOutput":{"hookEventName":"x","permisionDecision":"deny"}}"#;
        let changed_input = r#"{"session_id":"","hook_event_name":"x","cwd":"/","tool_name":"shell",
            "tool_input":{},"permission":"deny"}"#;
        let interrupt =
            r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","interrupt":true}}}"#;
        let spaced = "log\n  {\"decision\":\"deny\",\"reason\":\"J\"}\nbye";
        let followed = "{\"decision\":\"deny\",\"reason\":\"J\"}\nbye";
        let marked = "\u{feff}{\"decision\":\"deny\",\"reason\":\"J\"}";
        check(&[
            (Guard, 0, "", "", Ok, None, ""),
            (Guard, 0, "{}", "", Ok, None, ""),
            (Guard, 0, "some text", "", Ok, None, ""),
            // A redactor that prints the text alone has redacted nothing.
            (Event::ToolResponseTransform, 0, "some text", "", Failed, Some(Deny), "not JSON"),
            (Guard, 0, ALLOW, "", Ok, Some(Allow), ""),
            (Guard, 0, DENY, "", Blocked, Some(Deny), "J"),
            (Guard, 0, r#"{"reason":"J"}"#, "", Failed, Some(Deny), "no decision"),
            (
                Event::ToolResponseTransform,
                0,
                r#"{"updated_response":"x"}"#,
                "",
                Failed,
                Some(Deny),
                "shown with",
            ),
            (
                Event::ToolResponseTransform,
                0,
                r#"{"updated_tool_response":null}"#,
                "",
                Failed,
                Some(Deny),
                "shown with",
            ),
            (Guard, 0, marked, "", Blocked, Some(Deny), "J"),
            (Guard, 0, ASK, "", Ok, Some(Ask), "J"),
            (Prompt, 0, ASK, "", Blocked, Some(Deny), "J"),
            (Guard, 0, NOISY, "", Failed, Some(Deny), "starts with `{`"),
            (Prompt, 0, NOISY, "", Failed, None, ""),
            (Event::Stop, 0, NOISY, "", Failed, None, ""),
            (Started, 0, NOISY, "", Ok, None, ""),
            (Guard, 0, spaced, "", Failed, Some(Deny), "starts with `{`"),
            (Guard, 0, "log\r{", "", Failed, Some(Deny), "starts with `{`"),
            (Guard, 0, followed, "", Failed, Some(Deny), "not valid JSON"),
            (Guard, 0, r#"{"decision":"#, "", Failed, Some(Deny), "not valid JSON"),
            (Prompt, 0, r#"{"decision":"#, "", Failed, None, ""),
            (Observer, 0, r#"{"decision":"#, "", Failed, None, ""),
            (Guard, 0, "{} {}", "", Failed, Some(Deny), "not valid JSON"),
            (Prompt, 0, "\0{\0\"\0d\0e\0n\0y", "", Failed, None, ""),
            (Guard, 0, r#"{"decision":"nope"}"#, "", Failed, Some(Deny), "can't be `nope`"),
            (Guard, 0, r#"{"decision":""}"#, "", Failed, Some(Deny), "can't be ``"),
            (Guard, 0, r#"{"decision":"deny","reason":5}"#, "", Failed, Some(Deny), "a string"),
            (Prompt, 0, r#"{"decision":"deny","reason":5}"#, "", Failed, None, ""),
            (Guard, 0, r#"{"decision":"deny","reason":"J","x":1}"#, "", Blocked, Some(Deny), "J"),
            (Guard, 0, r#"{"permission":"ask"}"#, "", Failed, Some(Deny), "key `permission`"),
            (Prompt, 0, r#"{"permission":"deny"}"#, "", Failed, None, ""),
            (Guard, 0, r#"{"decison":"deny"}"#, "", Failed, Some(Deny), "mean `decision`"),
            (Guard, 0, r#"{"reason":"J","decison":"deny"}"#, "", Failed, Some(Deny), "`decison`"),
            (Guard, 0, r#"{"continue":true,"a":"deny"}"#, "", Failed, Some(Deny), "key `a`"),
            (Guard, 0, misplaced, "", Failed, Some(Deny), "mean `permission_decision`"),
            (Guard, 0, r#"{"session_id":"","hook_event_name":"x"}"#, "", Ok, None, ""),
            (Guard, 0, changed_input, "", Failed, Some(Deny), "`permission`"),
            (Guard, 0, r#"[{"decision":"deny"}]"#, "", Failed, Some(Deny), "not an object"),
            (Guard, 0, interrupt, "", Blocked, Some(Deny), ""),
            (Guard, 1, interrupt, "", Blocked, Some(Deny), ""),
            (Guard, 0, r#"{"async":true}"#, "", Failed, Some(Deny), "in the background"),
            (Prompt, 0, "{\"async\":true}\nlog", "", Failed, None, ""),
            (Started, 0, "{\"async\":true}\n{\"x\"", "", Background, None, ""),
        ]);
    }

    #[test]
    fn text_is_context_where_the_event_takes_text() {
        let context = |event, code, text| read(event, code, text, "").output.additional_context;
        assert_eq!(context(Event::SessionStart, 0, " hello \n").as_deref(), Some("hello"));
        assert_eq!(context(Event::PreToolUse, 0, "hello"), None);
        assert_eq!(read(Event::PreToolUse, 0, "hello", "").stdout, "hello");
        assert_eq!(context(Event::SessionStart, 1, "hello"), None);
        // Context may end with an example of JSON.
        let example = "Answer so:\n{\"reason\": \"...\"}";
        assert_eq!(context(Event::UserPromptSubmit, 0, example).as_deref(), Some(example));
    }

    #[test]
    fn a_flood_of_lines_is_read_in_no_time() {
        // Each of these once took minutes, without a reaction to timeouts and signals.
        for filling in
            ["\n", " \n", "\u{a0}", "{\n", " {\"a\":\n", "{\"a\":", "{}", "{ ", "{\"a\":1}"]
        {
            let text = format!("x{}x", filling.repeat((1 << 20) / filling.len()));
            let started = std::time::Instant::now();
            // A later line that starts with `{` is a failure.
            let decision = filling.ends_with('\n') && filling.contains('{');
            let decision = decision.then_some(Decision::Deny);
            assert_eq!(read(Event::PreToolUse, 0, &text, "").output.decision, decision);
            assert!(started.elapsed().as_secs() < 60, "{filling:?}: {:?}", started.elapsed());
            let denied = format!("{text}\n{{\"decision\":\"deny\"}}");
            let outcome = read(Event::PreToolUse, 0, &denied, "");
            assert_eq!(outcome.output.decision, Some(Decision::Deny), "{filling:?}");
        }
        let long = format!("{{\"{}\":1}}", "x".repeat(1 << 20));
        let started = std::time::Instant::now();
        let outcome = read(Event::PreToolUse, 0, &long, "");
        assert_eq!(outcome.output.decision, Some(Decision::Deny));
        assert!(outcome.output.reason.unwrap().len() < 1000, "the key is cut");
        assert!(started.elapsed().as_secs() < 60, "a long key: {:?}", started.elapsed());
    }

    #[test]
    fn a_noisy_denial_is_a_failure_where_the_hook_says_that_failures_deny() {
        let read = |on_error| read_as(on_error, Prompt, 0, NOISY, "");
        assert_eq!(read(Some(OnError::Block)).output.decision, Some(Deny));
        assert_eq!(read(Some(OnError::Ask)).output.decision, Some(Deny));
        for on_error in [None, Some(OnError::Warn)] {
            let outcome = read(on_error);
            assert_eq!((outcome.status, outcome.output.decision), (Failed, None), "{on_error:?}");
        }
    }

    #[test]
    fn a_denial_counts_though_the_hook_failed_after_it() {
        let denial = br#"{"decision":"deny","reason":"J"}"#.to_vec();
        let failed = HandlerError::new(Failure::TimedOut, "too late").with_stdout(denial);
        let hook = Hook::new(Event::UserPromptSubmit, "command", Command::Text("guard".into()));
        let bound = bound(hook);
        let contract = Event::UserPromptSubmit.contract();
        let input = Input::default();
        let interpreter = Interpreter {
            contract,
            bound: &bound,
            input: &input,
            may_approve_with_arguments: false,
        };
        let outcome = interpreted(&interpreter, Err(failed));
        assert_eq!(outcome.output.decision, Some(Decision::Deny));
        assert_eq!(outcome.warnings, ["too late"]);
    }
}
