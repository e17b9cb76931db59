//! The files that `hookexec init` writes.

use std::fmt::Write as _;
use std::path::Path;

use hookexec_agents::Agent;

/// A file that tells of a language, the language, and how its tests usually run.
const LANGUAGES: [(&str, &str, &str); 5] = [
    ("Cargo.toml", "Rust", "cargo test"),
    ("package.json", "JavaScript", "npm test"),
    ("pyproject.toml", "Python", "python -m pytest"),
    ("requirements.txt", "Python", "python -m pytest"),
    ("go.mod", "Go", "go test ./..."),
];

/// The parts of a project for which there are hooks.
pub(super) struct Found {
    git: bool,
    /// Each language once, and how its tests run.
    languages: Vec<(&'static str, &'static str)>,
    pub(super) agents: Vec<Agent>,
}

impl Found {
    /// Looks into a project's directory.
    pub(super) fn in_project(project: &Path) -> Self {
        let mut found =
            Self { git: project.join(".git").exists(), languages: Vec::new(), agents: Vec::new() };
        for (file, language, command) in LANGUAGES {
            if project.join(file).exists() && !found.languages.contains(&(language, command)) {
                found.languages.push((language, command));
            }
        }
        for agent in Agent::all() {
            if let Some(settings) = agent.settings()
                && project.join(settings.in_project().0).exists()
            {
                found.agents.push(agent);
            }
        }
        found
    }

    /// Keeps what holds in every project of the user, whatever this one is made of.
    pub(super) fn keep_what_holds_everywhere(&mut self) {
        self.git = true;
        self.languages.clear();
    }

    /// Returns what was found, for people.
    pub(super) fn listed(&self) -> String {
        let mut parts = Vec::new();
        if self.git {
            parts.push("git");
        }
        for (language, _) in &self.languages {
            parts.push(language);
        }
        for agent in &self.agents {
            parts.push(agent.title());
        }
        if parts.is_empty() { "a project of any kind".to_owned() } else { parts.join(", ") }
    }
}

/// The hooks file of a user: rules for every project.
pub(super) const USERS_HOOKS: &str = include_str!("starter/user.yaml");
/// The tests of that file: they reach all of it.
pub(super) const USERS_CASES: &str = include_str!("starter/user.test.yaml");

/// Returns the hooks file of a project.
pub(super) fn hooks(found: &Found) -> String {
    let mut text = include_str!("starter/hooks.yaml").to_owned();
    if found.git {
        text.push_str(include_str!("starter/no-force-push.yaml"));
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
            "\n# {title} is used: `hookexec docs agents {agent}` shows which answers it takes."
        );
    }
    text
}

/// Returns the tests of that file: they reach all of it.
pub(super) fn cases(found: &Found) -> String {
    let mut text = include_str!("starter/hooks.test.yaml").to_owned();
    if found.git {
        text.push_str(include_str!("starter/no-force-push.test.yaml"));
    }
    if let Some((_, command)) = found.languages.first() {
        let _ = write!(
            text,
            "\n  - name: the model learns how tests run\n    event: session_start\n    expect: {{ additional_context: {{ regex: '{command}' }} }}\n"
        );
    }
    text
}
