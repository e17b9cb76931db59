//! The files that `hookexec init` writes.

use std::fmt::Write as _;
use std::path::Path;

use hookexec::agents::Agent;

/// A file that tells of a language, the language, and how its tests usually run.
const LANGUAGES: [(&str, &str, &str); 5] = [
    ("Cargo.toml", "Rust", "cargo test"),
    ("package.json", "JavaScript", "npm test"),
    ("pyproject.toml", "Python", "python -m pytest"),
    ("requirements.txt", "Python", "python -m pytest"),
    ("go.mod", "Go", "go test ./..."),
];

/// What a project is made of.
pub(super) struct Found {
    git: bool,
    /// Names and test commands, each language once.
    languages: Vec<(&'static str, &'static str)>,
    pub(super) agents: Vec<Agent>,
}

impl Found {
    /// Looks into a project's directory.
    pub(super) fn in_project(project: &Path) -> Self {
        let is_there = |name: &str| project.join(name).exists();
        let mut languages: Vec<(&str, &str)> = Vec::new();
        for (file, language, command) in LANGUAGES {
            if is_there(file) && !languages.contains(&(language, command)) {
                languages.push((language, command));
            }
        }
        let is_used =
            |agent: &Agent| agent.settings().is_some_and(|it| is_there(it.in_project().0));
        Self { git: is_there(".git"), languages, agents: Agent::all().filter(is_used).collect() }
    }

    /// Returns what holds in every project of the user, whatever this one is made of.
    pub(super) fn for_every_project(self) -> Self {
        Self { git: true, languages: Vec::new(), ..self }
    }

    /// Returns what was found, for people.
    pub(super) fn listed(&self) -> String {
        let mut parts: Vec<&str> = self.git.then_some("git").into_iter().collect();
        parts.extend(self.languages.iter().map(|(language, _)| language));
        parts.extend(self.agents.iter().map(|agent| agent.title()));
        if parts.is_empty() { "a project of any kind".to_owned() } else { parts.join(", ") }
    }
}

/// Returns a hooks file: the user's own, or the project's.
pub(super) fn hooks(found: &Found, is_users: bool) -> String {
    let whose = if is_users { "Your hooks in every project" } else { "Hooks of this project" };
    let mut text = format!("# {whose}");
    text.push_str(
        r#": `hookexec list` shows them, `hookexec test` runs their tests,
# `hookexec explain EVENT < input.json` says why one ran or did not.
#
# To have an editor check this file, run `hookexec schema config > hooks.schema.json` and remove
# one # below:
## yaml-language-server: $schema=./hooks.schema.json

# A log of what was decided; `hookexec log` reads it.
# audit: { path: ~/.local/state/hookexec/audit.jsonl, input: redacted }

hooks:
  # Before a tool runs. A hook that exits with 2 denies, and what it says on stderr is the reason.
  pre_tool_use:
    - matcher: shell
      hooks:
        - name: no-recursive-rm
          type: command
          # A hook whose `when` does not hold is not started. This one looks for `rm` with -r, -R or
          # --recursive anywhere among its arguments. A pattern over a command's text is a seat belt: it
          # stops the accident, and not a model that hides the command in a script or a variable.
          when:
            any:
              - field: tool_input.cmd
                regex: &rm '(^|[\s;&|(`"''/\\])rm\s+([^;&|]*\s)?["'']?(-[a-zA-Z]*[rR]|--r)'
              - { field: tool_input.command, regex: *rm }
          command: echo "whole directories are removed by people" >&2; exit 2
          on_error: block       # should the hook itself fail
          side_effects: none    # it may run in tests and replays
"#,
    );
    if found.git {
        text.push_str(
            r#"        - name: no-force-push
          type: command
          # `git ... push` with -f, --force (but not --force-with-lease) or a `+` before the branch.
          when:
            any:
              - field: tool_input.cmd
                regex: &push '(^|[\s;&|(`"''/\\])git\s([^;&|]*\s)?push\s([^;&|]*\s)?["'']?(-[a-zA-Z]*f|--force(\s|$|["'';&|)])|\+)'
              - { field: tool_input.command, regex: *push }
          command: echo "what others may have is not pushed over" >&2; exit 2
          on_error: block
          side_effects: none
"#,
        );
    }
    if !found.languages.is_empty() {
        text.push_str(
            "\n  # What is printed here becomes context for the model.\n  session_start:\n",
        );
        for (language, command) in &found.languages {
            let _ = writeln!(
                text,
                "    - {{ name: {}-tests, type: command, side_effects: none, command: echo \"Tests run with '{command}'.\" }}",
                language.to_lowercase()
            );
        }
    }
    for agent in &found.agents {
        let title = agent.title();
        let _ = writeln!(
            text,
            "\n# {title} is used: `hookexec agents {agent}` says what it can be told."
        );
    }
    text
}

/// Returns the tests of that file: they reach all of it.
pub(super) fn cases(found: &Found) -> String {
    let mut text = r"# Tests of hooks.yaml: `hookexec test` runs them.
#
# To have an editor check this file, run `hookexec schema cases > cases.schema.json` and remove
# one # below:
## yaml-language-server: $schema=./cases.schema.json
cases:
  - name: removing a directory is denied
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: rm -rf build } }
    expect: { decision: deny, message: { regex: removed by people }, ran: [no-recursive-rm] }

  - name: wherever its flags stand
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: rm build --force --recursive } }
    expect: { decision: deny, ran: [no-recursive-rm] }

  - name: removing a file is no matter of ours
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: rm notes.txt } }
    expect: { decision: none, ran: [] }
"
    .to_owned();
    if found.git {
        text.push_str(
            r"
  - name: a forced push is denied
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: git push --force } }
    expect: { decision: deny, ran: [no-force-push] }
",
        );
    }
    if let Some((_, command)) = found.languages.first() {
        let _ = write!(
            text,
            "\n  - name: the model is told how tests run\n    event: session_start\n    expect: {{ additional_context: {{ regex: '{command}' }} }}\n"
        );
    }
    text
}
