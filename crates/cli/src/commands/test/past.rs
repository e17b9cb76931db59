//! `hookexec test --past`: what a policy would have done with an agent's calls of the past.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anstyle::Style;
use hookexec::config::Hook;
use hookexec::{Config, Event, Verdict};
use hookexec_agents::{Agent, Found, NativeCall, SeenCalls, Subject, Transcript, Transcripts};
use hookexec_files::locks::locked;
use hookexec_files::text::shortened;
use hookexec_project::log::Record;
use hookexec_setup::doctor::version_numbers;
use hookexec_workbench::records::{Report, Statistics, about_call};
use hookexec_workbench::testing::{
    Habits, Past, PastGroup, PolicyOutcome, Replay, is_self_contained, stays_here,
};
use jiff::Timestamp;
use serde_json::json;

use super::log::load_candidate;
use super::save;
use crate::commands::log::{page, since};
use crate::console::output::{self, PlainFormat};
use crate::console::report::{BAD, DIM, DOUBTFUL, GOOD, counted};
use crate::error::{CommandError, OrCommandError as _};
use crate::runtime::Runtime;
use crate::{plain, registry};

/// How many groups and places are shown.
const SHOWN: usize = 10;
/// How long `init` reads.
const QUICK: Duration = Duration::from_secs(2);
const BROKEN: &str = "can't be read";
const ELSEWHERE: &str = "of another project, so that no program ran";

/// The effects of a policy, in the order of [`PolicyOutcome`].
const OUTCOMES: [(PolicyOutcome, Style, &str); 4] = [
    (PolicyOutcome::Denied, BAD, "denied"),
    (PolicyOutcome::Asked, DOUBTFUL, "asked"),
    (PolicyOutcome::Rewritten, DOUBTFUL, "rewritten"),
    (PolicyOutcome::Redacted, DOUBTFUL, "redacted"),
];

/// Transcripts, and a policy.
pub(crate) struct Survey {
    agent: Agent,
    transcripts: &'static Transcripts,
    config: Config,
    /// The project of calls whose transcript names none.
    project: PathBuf,
    since: Timestamp,
    /// When to stop reading.
    until: Option<Instant>,
    /// Whether commands are counted.
    suggests: bool,
    /// A page of all calls, if one is drawn.
    report: Option<Mutex<Report>>,
}

impl Survey {
    /// Loads the policy: these hooks files, else those that count here.
    pub(crate) fn new(
        agent: Agent,
        since: Timestamp,
        files: &[PathBuf],
        project: Option<&Path>,
    ) -> Result<Self, CommandError> {
        let Some(transcripts) = &agent.facts().transcripts else {
            let known = Agent::all().filter(|agent| agent.facts().transcripts.is_some());
            let known: Vec<&str> = known.map(Agent::name).collect();
            let hint = format!("they can be read of {}", known.join(", "));
            let problem = format!("the transcripts of {} can't be read", agent.title());
            return Err(CommandError::usage(problem).hint(hint));
        };
        let (config, project) = load_candidate(files, project)?;
        Ok(Self {
            agent,
            transcripts,
            config,
            project,
            since,
            until: None,
            suggests: false,
            report: None,
        })
    }

    /// Judges all calls, by several threads.
    pub(crate) fn run(&self) -> Result<Past, CommandError> {
        let files = self.transcripts.files(self.agent, SystemTime::from(self.since));
        let mut files = files.or_usage("can't read the directory of transcripts")?;
        if self.until.is_none() {
            // Those of one project follow each other: the policy is built for each project.
            files.sort_by(|one, other| one.parent().cmp(&other.parent()));
        }
        if files.is_empty() {
            let place = self.transcripts.directory(self.agent).unwrap_or_default();
            let (title, since) = (self.agent.title(), self.since.strftime("%Y-%m-%d"));
            let problem = format!("no transcripts of {title} since {since} in {}", place.display());
            return Err(CommandError::usage(problem).hint(format!(
                "look further back with `--since 90d`, or try again after some sessions of {title}: it \
                 writes a transcript of each"
            )));
        }
        let (next, seen) = (AtomicUsize::new(0), SeenCalls::default());
        let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len());
        let mut all = Past::default();
        all.transcripts = files.len();
        thread::scope(|scope| {
            let mut workers = Vec::new();
            for _ in 0..threads {
                workers.push(scope.spawn(|| self.work(&files, &next, &seen)));
            }
            for worker in workers {
                let done = worker.join().map_err(|_| CommandError::internal("a thread failed"))?;
                all.merge(done?);
            }
            show_progress("");
            all.note_unmet(&self.config);
            Ok(all)
        })
    }

    /// Shows it, for people or for programs.
    pub(super) fn show(&self, format: PlainFormat) -> Result<(), CommandError> {
        let past = &self.run()?;
        let summary = json!({
            "agent": self.agent.name(),
            "transcripts": past.transcripts,
            "calls": past.calls,
            "denied": past.count(PolicyOutcome::Denied),
            "asked": past.count(PolicyOutcome::Asked),
            "rewritten": past.count(PolicyOutcome::Rewritten),
            "redacted": past.count(PolicyOutcome::Redacted),
            "allowed": past.allowed,
            "groups": past.groups(),
            "notes": past.notes,
        });
        format.show(&summary, || self.text(past))
    }

    fn text(&self, past: &Past) -> String {
        let (title, files) = (self.agent.title(), counted(past.transcripts, "transcript"));
        let (calls, since) = (counted(past.calls, "call"), self.since.strftime("%Y-%m-%d"));
        let mut text = format!("{calls} in {files} of {title} since {since}\nwould be ");
        for (outcome, style, word) in OUTCOMES {
            let _ = write!(text, "{style}{word}{style:#} {}, ", past.count(outcome));
        }
        let _ = writeln!(text, "{GOOD}allowed{GOOD:#} {}", past.allowed);
        let groups = past.groups();
        for (at, group) in groups.iter().take(SHOWN).enumerate() {
            push_group(&mut text, at + 1, group);
        }
        if groups.len() > SHOWN {
            let more = groups.len() - SHOWN;
            let _ = writeln!(text, "  ... and {more} more (`--format json`)");
        }
        for (about, note) in &past.notes {
            let places = &note.places[..note.places.len().min(SHOWN)];
            let places = plain::line(&places.join(", "));
            let _ = writeln!(text, "{about} ({}): {places}", note.count);
        }
        text
    }

    /// Writes a page that draws it by day.
    pub(super) fn draw(&mut self, file: &Path) -> Result<(), CommandError> {
        let numbers = Statistics::of_hooks(&self.config.hooks);
        self.report = Some(Mutex::new(Report::new(numbers)));
        self.run()?;
        let Some(report) = &self.report else { return Ok(()) };
        let remark = format!(", as this policy judges the past of {}", self.agent.title());
        page::draw(file, &mut locked(report), &remark)
    }

    /// Prints an allow rule for commands that ran often. The rules of `init --user` count, too.
    pub(super) fn suggest(&mut self) -> Result<(), CommandError> {
        let starter = include_str!("../../starter/user.yaml");
        let starter = Config::from_yaml(starter, "user.yaml")?;
        self.config.hooks.extend(starter.hooks);
        // An allow would keep the hooks that are asked later from being asked.
        for hook in &mut self.config.hooks {
            if hook.event == Event::PermissionRequest {
                hook.event = Event::PreToolUse;
            }
        }
        self.suggests = true;
        let past = self.run()?;
        let habits = past.habits.unwrap_or_default();
        let frequent = habits.frequent();
        let mut text = String::new();
        if habits.left_out > 0 {
            let calls = counted(habits.left_out, "call");
            let why = "a hook did not run, failed, or had doubts";
            let _ = writeln!(text, "# {calls} left out: {why}.");
        }
        let calls = counted(past.calls, "call");
        if frequent.is_empty() {
            let _ = writeln!(
                text,
                "# In {calls} no other command that only looks or builds ran five times."
            );
            return output::print(&text);
        }
        let _ = write!(
            text,
            "# In {calls} these ran often, and no rule stops one. Read each line before you use it.\n\
             - name: often\n  type: rule\n  allow: true\n  commands:\n"
        );
        for (pattern, count) in frequent {
            let _ = writeln!(text, "    - \"{pattern}\"  # {}", counted(count, "time"));
        }
        output::print(&text)
    }

    /// Makes a test case of the example with this number.
    pub(super) fn save_case(&self, number: usize) -> Result<(), CommandError> {
        let past = self.run()?;
        let groups = past.groups();
        let group = number.checked_sub(1).and_then(|at| groups.get(at));
        for hook in &self.config.hooks {
            if let Some(group) = group
                && hook.location.text() == group.source
            {
                let exception = self.exception(hook, group, &groups)?;
                return save::save(self.agent, group, hook.location.path(), exception);
            }
        }
        let problem = format!("no hook of a file decides calls under the number {number}");
        Err(CommandError::usage(problem).hint("leave out `--save-case` to see the numbers"))
    }

    /// Returns an exception of a rule that lets the call of `group` through, and no other that it stops.
    fn exception(
        &self,
        hook: &Hook,
        group: &PastGroup,
        groups: &[&PastGroup],
    ) -> Result<Option<(&'static str, String)>, CommandError> {
        let Some((key, text)) = save::exception(group) else { return Ok(None) };
        let Some(config) = save::with_exception(hook, key, &text) else { return Ok(None) };
        let runtime = Runtime::new()?;
        for other in groups.iter().filter(|other| other.source == group.source) {
            let Subject::Native(call) = &other.subject else { continue };
            let replay = self.replay(config.clone(), &call.project)?;
            let (verdict, _) = runtime.block_on(replay.judge(&other.subject))?;
            if verdict.decision.is_some() == std::ptr::eq(*other, group) {
                return Ok(None);
            }
        }
        Ok(Some((key, text)))
    }

    /// Reads one file after the other that no other thread has begun.
    fn work(
        &self,
        files: &[PathBuf],
        next: &AtomicUsize,
        seen: &SeenCalls,
    ) -> Result<Past, CommandError> {
        let mut found = Past::default();
        found.habits = if self.suggests { Some(Habits::default()) } else { None };
        let mut work = Work { survey: self, runtime: Runtime::new()?, found, replay: None };
        while self.until.is_none_or(|until| Instant::now() < until) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = files.get(at) else { break };
            show_progress(&format!("{} of {} transcripts", at + 1, files.len()));
            work.read(path, seen)?;
        }
        Ok(work.found)
    }

    /// Adds a call to the page.
    fn record(&self, time: String, subject: &Subject, verdict: &Verdict) {
        let (Some(report), input) = (&self.report, subject.input()) else { return };
        let mut record = Record::new(time, input, verdict, 0.0);
        record.input = Some(json!({ "tool_name": input.tool(), "tool_input": input.tool_input }));
        let has_effect = record.decision.is_some() || !record.rewritten.is_empty();
        locked(report).add(&record, has_effect);
    }

    fn replay(&self, config: Config, project: &str) -> Result<Replay, CommandError> {
        let is_ours = self.is_ours(project);
        // A transcript must not choose the directory of a relative program.
        let runs = if is_ours { stays_here } else { is_self_contained };
        let project = if is_ours { &self.project } else { Path::new(project) };
        let replay = Replay::new(config, project, registry::all(), runs);
        replay.map_err(CommandError::from)
    }

    fn is_ours(&self, project: &str) -> bool {
        project.is_empty() || Path::new(project) == self.project
    }

    fn starts_programs(&self) -> bool {
        self.config.hooks.iter().any(|hook| stays_here(hook) && !is_self_contained(hook))
    }
}

/// The work of one thread.
struct Work<'s> {
    survey: &'s Survey,
    runtime: Runtime,
    found: Past,
    /// The replay of the last call, and its project.
    replay: Option<(String, Replay)>,
}

impl Work<'_> {
    /// Judges the calls of a transcript.
    fn read(&mut self, path: &Path, seen: &SeenCalls) -> Result<(), CommandError> {
        let Survey { agent, transcripts, since, until, .. } = self.survey;
        let (shown, mut stopped) = (path.display(), None);
        let read = transcripts.read(*agent, path, &since.to_string(), seen, *until, |one| {
            let problem = match one {
                Found::Broken { line, why } => format!(":{line}: {why}"),
                Found::Call { time, call } => match (time.parse::<Timestamp>(), call) {
                    (Ok(time), Ok(call)) => {
                        if let Err(error) = self.judge(time, call) {
                            stopped = Some(error);
                        }
                        return;
                    }
                    (Ok(_), Err(error)) => format!(": {time}: {error}"),
                    (Err(_), _) => format!(": {time} is not a time"),
                },
            };
            self.found.note(BROKEN, format!("{shown}{problem}"));
        });
        match read {
            Ok(transcript) => self.note_form(&transcript, path),
            Err(error) => self.found.note(BROKEN, format!("{shown}: {error}")),
        }
        stopped.map_or(Ok(()), Err)
    }

    fn judge(&mut self, time: Timestamp, call: Box<NativeCall>) -> Result<(), CommandError> {
        let survey = self.survey;
        // Rules know the project by the directory in which the session began.
        if self.replay.as_ref().is_none_or(|(project, _)| *project != call.project) {
            if survey.starts_programs() && !survey.is_ours(&call.project) {
                self.found.note(ELSEWHERE, call.project.clone());
            }
            let replay = survey.replay(survey.config.clone(), &call.project)?;
            self.replay = Some((call.project.clone(), replay));
        }
        let Some((_, replay)) = &self.replay else { return Ok(()) };
        let time = time.to_string();
        let judged = self.runtime.block_on(self.found.add(replay, &time, call))?;
        if let Some((subject, verdict)) = judged {
            survey.record(time, &subject, &verdict);
        }
        Ok(())
    }

    /// Notes a form that is not known, or may have changed.
    fn note_form(&mut self, transcript: &Transcript, path: &Path) {
        let path = path.display();
        if !transcript.is_known {
            self.found.note("of an unknown form", path.to_string());
        }
        if let (Some(version), Some(measured)) =
            (&transcript.version, self.survey.agent.facts().measured)
            && version_numbers(version) > version_numbers(measured.version)
        {
            let about = format!("newer than {}, whose form is known", measured.version);
            self.found.note(&about, format!("{version} ({path})"));
        }
    }
}

/// Shows a line on a terminal, in place of the line before.
fn show_progress(text: &str) {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r{text}\x1b[K\r");
    }
}

/// Returns what the hooks file at `hooks` would have done with the calls of the last days, a line for
/// each agent whose transcripts are there. What can't be read is left out.
pub(crate) fn last_days(hooks: &Path) -> String {
    let mut text = String::new();
    for agent in Agent::all() {
        let Ok(since) = since("30d") else { continue };
        let Ok(mut survey) = Survey::new(agent, since, &[hooks.to_owned()], None) else { continue };
        if survey.transcripts.is_database {
            continue;
        }
        survey.until = Some(Instant::now() + QUICK);
        let Ok(past) = survey.run() else { continue };
        if past.calls > 0 {
            let stopped = past.count(PolicyOutcome::Denied) + past.count(PolicyOutcome::Asked);
            let (calls, title) = (counted(past.calls, "call"), agent.title());
            let is_whole = survey.until.is_some_and(|until| Instant::now() < until);
            let newest = if is_whole { "" } else { "the newest " };
            let _ = writeln!(
                text,
                "\nIn the last 30 days this policy would have stopped {stopped} of {newest}{calls} of {title}: \
                 `hookexec test --past {agent}` shows them."
            );
        }
    }
    text
}

fn push_group(text: &mut String, number: usize, group: &PastGroup) {
    let PastGroup { outcome, count, hook, source, time, tool, reason, payload, .. } = group;
    let (_, style, word) = OUTCOMES[*outcome as usize];
    let hook = if hook.is_empty() { "a guard of its own" } else { hook };
    let reason = plain::line(reason.as_deref().unwrap_or_default());
    let (hook, source, reason) = (plain::line(hook), plain::line(source), shortened(&reason, 120));
    let _ = writeln!(text, "{number:3}. {style}{word}{style:#} {count}  {source} {hook}: {reason}");
    let about = match payload.as_ref().map(|payload| &payload["tool_input"]) {
        Some(arguments) if arguments.is_object() => about_call(tool, arguments),
        _ => String::new(),
    };
    let (day, about) = (time.get(..10).unwrap_or(time), plain::line(&about));
    let about = shortened(&about, 100);
    let _ = writeln!(text, "     {DIM}{day}{DIM:#} {}: {about}", plain::line(tool));
}
