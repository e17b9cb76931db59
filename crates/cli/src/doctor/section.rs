//! The findings of `doctor`, as data.

use serde::Serialize;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Grade {
    Ok,
    Warning,
    Problem,
}

impl Grade {
    pub(super) fn of(is_problem: bool) -> Self {
        if is_problem { Self::Problem } else { Self::Warning }
    }
}

/// One cause, and the hooks or events that it concerns.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) grade: Grade,
    pub(super) about: Vec<String>,
    pub(super) text: String,
}

impl Finding {
    pub(super) fn line(&self) -> String {
        const SHOWN: usize = 6;
        let Self { about, text, .. } = self;
        match about.len() {
            0 => text.clone(),
            1..=SHOWN => format!("{}: {text}", about.join(", ")),
            all => format!("{} and {} more: {text}", about[..SHOWN].join(", "), all - SHOWN),
        }
    }
}

/// Findings about one subject, with a heading.
#[derive(Debug, Serialize)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) findings: Vec<Finding>,
}

impl Section {
    pub(super) fn new(title: &str) -> Self {
        Self { title: title.to_owned(), findings: Vec::new() }
    }

    pub(super) fn ok(&mut self, text: impl Into<String>) {
        self.add(Grade::Ok, text);
    }

    pub(super) fn warning(&mut self, text: impl Into<String>) {
        self.add(Grade::Warning, text);
    }

    pub(super) fn problem(&mut self, text: impl Into<String>) {
        self.add(Grade::Problem, text);
    }

    pub(super) fn add(&mut self, grade: Grade, text: impl Into<String>) {
        self.findings.push(Finding { grade, about: Vec::new(), text: text.into() });
    }

    /// Adds a finding about a hook or an event. Findings that differ in that alone become one line.
    pub(super) fn about(&mut self, about: &str, grade: Grade, text: impl Into<String>) {
        let text = text.into();
        for known in &mut self.findings {
            if !known.about.is_empty() && known.grade == grade && known.text == text {
                known.about.push(about.to_owned());
                return;
            }
        }
        self.findings.push(Finding { grade, about: vec![about.to_owned()], text });
    }

    /// Returns how many findings are as bad as that.
    pub(super) fn count(&self, grade: Grade) -> usize {
        self.findings.iter().filter(|finding| finding.grade == grade).count()
    }
}
