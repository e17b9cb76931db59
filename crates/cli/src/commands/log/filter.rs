//! Which records of the decision log are wanted.

use hookexec::Event;
use hookexec_project::log::Record;
use hookexec_workbench::records::word;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp};

use crate::commands::run::event_name;

/// Which records are wanted; what is not set matches all.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
pub(crate) struct Filter {
    /// Only records of this event
    #[arg(long, value_parser = event_name(), hide_possible_values = true)]
    pub(crate) event: Option<Event>,

    /// Only records of this decision; `none` if no hook had an opinion
    #[arg(long, value_parser = ["allow", "ask", "deny", "none"])]
    pub(crate) decision: Option<String>,

    /// Only records in which this hook ran; by name, or as `hooks.yaml:5`
    #[arg(long, value_name = "HOOK")]
    pub(crate) hook: Option<String>,

    /// Only records from this time on: `2026-03-21`, `2026-03-21T10:00:00Z`, or `30m`, `2h`, `7d` ago
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<Timestamp>,
}

/// Reads a time, or how long ago it was.
pub(crate) fn since(text: &str) -> Result<Timestamp, &'static str> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    if let Ok(day) = text.parse::<Date>()
        && let Ok(begin) = day.to_zoned(TimeZone::system())
    {
        return Ok(begin.timestamp());
    }
    if let Ok(ago) = text.parse::<Span>()
        && let Ok(ago) = ago.to_duration(SpanRelativeTo::days_are_24_hours())
        && let Ok(time) = Timestamp::now().checked_sub(ago)
    {
        return Ok(time);
    }
    Err(
        "write a day (`2026-03-21`), a time (`2026-03-21T10:00:00Z`), or how long ago: `30m`, `2h`, `7d`",
    )
}

/// Returns whether a hook is the one that the user names: by its name, or by its place, as
/// `hooks.yaml:5` from any directory.
fn is_wanted(name: &str, source: &str, wanted: &str) -> bool {
    name == wanted || source == wanted || source.ends_with(&format!("/{wanted}"))
}

impl Filter {
    /// Returns whether a record is wanted.
    pub(crate) fn wants(&self, record: &Record) -> bool {
        if self.event.is_some_and(|event| event != record.event)
            || self.decision.as_ref().is_some_and(|wanted| wanted != word(record.decision))
        {
            return false;
        }
        if let Some(since) = self.since {
            match record.time.parse::<Timestamp>() {
                Ok(time) if time >= since => {}
                _ => return false,
            }
        }
        let Some(wanted) = &self.hook else { return true };
        record.hooks.iter().any(|hook| is_wanted(&hook.name, &hook.source, wanted))
    }
}

#[cfg(test)]
mod tests {
    use hookexec::{Input, Verdict};

    use super::*;

    #[test]
    fn filters_look_at_everything_that_is_set() {
        let (input, verdict) = (Input::default(), Verdict::no_opinion(Event::Stop));
        let record = Record::new("2026-03-01T10:00:00.000Z".to_owned(), &input, &verdict, 0.0);
        let mut filter = Filter::default();
        assert!(filter.wants(&record));
        filter.since = Some("2026-03-01T10:00:00Z".parse().unwrap());
        filter.decision = Some("none".into());
        assert!(filter.wants(&record));
        filter.since = Some("2026-03-01T10:00:01Z".parse().unwrap());
        assert!(!filter.wants(&record));
        filter.since = Some(since("2026-02-28").unwrap());
        filter.decision = None;
        assert!(filter.wants(&record));
        filter.since = Some(since("2026-03-03").unwrap());
        assert!(!filter.wants(&record));
        filter.since = None;
        filter.hook = Some("x".into());
        assert!(!filter.wants(&record));
    }
}
