//! Finding secrets in text and taking them out.
//!
//! Three sources: values of environment variables whose names look secret, the shapes of known
//! tokens, and what stands after a word such as `password`. Everything is linear in the length of
//! the text. What this finds and misses is measured on a labelled set; the numbers are in
//! `docs/builtins.md`.

mod assignments;
mod shapes;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ffi::OsStr;
use std::ops::Range;

use serde_json::Value;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The bytes of the text that are secret.
    pub range: Range<usize>,
    /// Its kind: `github-token`, `password`, `env:NAME`.
    pub kind: Cow<'static, str>,
}

/// Takes secrets out of text and JSON; each leaves `[REDACTED:kind]` behind.
///
/// Text that was redacted once stays as it is.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Secret values of the environment and the kind each is reported as, the longest first.
    values: Vec<(String, String)>,
}

impl Redactor {
    /// Returns a redactor of known shapes, assignments, and the secret values of `env`.
    pub fn new<'e, N, V>(env: impl IntoIterator<Item = (&'e N, &'e V)>) -> Self
    where
        N: AsRef<OsStr> + ?Sized + 'e,
        V: AsRef<OsStr> + ?Sized + 'e,
    {
        let mut values = Vec::new();
        for (name, value) in env {
            if let (Some(name), Some(value)) = (name.as_ref().to_str(), value.as_ref().to_str())
                && assignments::is_secret_variable(name, value)
            {
                values.push((value.to_owned(), format!("env:{name}")));
            }
        }
        values.sort();
        // A longer secret may contain a shorter one. The sort is stable.
        values.sort_by_key(|(value, _)| Reverse(value.len()));
        Self { values }
    }

    /// Returns the secrets of `text`, in order; none overlaps another.
    pub fn find(&self, text: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (value, kind) in &self.values {
            for (start, _) in text.match_indices(&**value) {
                let range = start..start + value.len();
                findings.push(Finding { range, kind: Cow::Owned(kind.clone()) });
            }
        }
        shapes::find(text, &mut findings);
        assignments::find(text, &mut findings);
        // What overlaps a marker was looked at before.
        let markers = markers(text);
        findings.retain(|finding| {
            let next = markers.partition_point(|marker| marker.end <= finding.range.start);
            !matches!(markers.get(next), Some(marker) if marker.start < finding.range.end)
        });
        merge(findings)
    }

    /// Returns `text` without its secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        // What stood in the middle of a secret's surroundings may be found once the secret is gone.
        // The second look finds nothing in any text of people.
        for _ in 0..4 {
            let findings = self.find(&clean);
            if findings.is_empty() {
                break;
            }
            clean = Cow::Owned(without(&clean, &findings));
        }
        clean
    }

    /// Takes the secrets out of every string of `value`, keys included, and returns whether there
    /// were any.
    ///
    /// A string or a number under a key such as `password`, or in a list under one such as
    /// `passwords`, is a secret whatever it looks like.
    pub fn redact_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let Cow::Owned(clean) = self.redact(text) else { return false };
                *text = clean;
                true
            }
            Value::Array(items) => self.redact_values(items),
            Value::Object(object) => self.redact_object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Takes the secrets out of every string of `values`, and returns whether there were any.
    pub(super) fn redact_values(&self, values: &mut [Value]) -> bool {
        let mut changed = false;
        for value in values {
            changed |= self.redact_value(value);
        }
        changed
    }

    /// Takes the secrets out of every string of `object`, and returns whether there were any.
    pub(crate) fn redact_object(&self, object: &mut serde_json::Map<String, Value>) -> bool {
        let mut changed = false;
        for (key, value) in object.iter_mut() {
            if let Value::Array(items) = value {
                for item in items {
                    changed |= self.redact_item(key, item, assignments::is_secret_item);
                }
            } else {
                changed |= self.redact_item(key, value, assignments::is_secret);
            }
        }
        if object.keys().any(|key| !self.find(key).is_empty()) {
            for (key, value) in std::mem::take(object) {
                object.insert(self.redact(&key).into_owned(), value);
            }
            changed = true;
        }
        changed
    }

    /// Replaces a text or a number that stands under `key` if it is a secret by that name alone.
    fn redact_item(&self, key: &str, item: &mut Value, is_secret: fn(&str, &str) -> bool) -> bool {
        let secret = match item {
            Value::String(text) => is_secret(key, text),
            Value::Number(number) => is_secret(key, &number.to_string()),
            _ => false,
        };
        if !secret {
            return self.redact_value(item);
        }
        *item =
            Value::String(marker(assignments::marker_word(key.strip_suffix('s').unwrap_or(key))));
        true
    }
}

/// The beginning of the text in a secret's place.
const MARKER: &str = "[REDACTED:";

fn marker(kind: &str) -> String {
    format!("{MARKER}{kind}]")
}

fn without(text: &str, findings: &[Finding]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut end = 0;
    for finding in findings {
        clean.push_str(&text[end..finding.range.start]);
        clean.push_str(&marker(&finding.kind));
        end = finding.range.end;
    }
    clean.push_str(&text[end..]);
    clean
}

/// Returns where `text` was redacted before.
fn markers(text: &str) -> Vec<Range<usize>> {
    // No kind is longer than a variable's name may reasonably be.
    const LONGEST: usize = 256;
    let mut markers = Vec::new();
    for (start, _) in text.match_indices(MARKER) {
        let mut bytes = text.as_bytes()[start..].iter().take(LONGEST);
        if let Some(length) = bytes.position(|byte| *byte == b']') {
            markers.push(start..start + length + 1);
        }
    }
    markers
}

/// Joins findings that overlap: the first one's kind stays, and every byte of each is secret.
fn merge(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.range.start, std::cmp::Reverse(finding.range.end)));
    let mut merged: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        match merged.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
            }
            _ => merged.push(finding),
        }
    }
    merged
}
