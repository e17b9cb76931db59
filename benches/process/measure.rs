//! Two pieces of work in turn, and what their times say of each other.
//!
//! A machine's speed drifts while a benchmark runs, by more than what is measured here. So the
//! baseline and the subject alternate, sample by sample, each going first every other time, and
//! what is reported is the ratio of their medians.

use std::time::{Duration, Instant};

/// Into how many parts the samples are cut to see how far the ratio wanders.
const PARTS: usize = 5;

/// What was found about one piece of work.
pub(crate) struct Finding {
    pub(crate) work: String,
    pub(crate) measured: String,
    pub(crate) spread: String,
    pub(crate) target: String,
    pub(crate) reached: Option<bool>,
}

/// Measures `subject` against `baseline`; each returns how long one sample took.
pub(crate) fn ratio(
    work: &str,
    target: Option<f64>,
    samples: usize,
    mut baseline: impl FnMut() -> Duration,
    mut subject: impl FnMut() -> Duration,
) -> Finding {
    let _ = (baseline(), subject());
    let mut times = Vec::with_capacity(samples);
    for sample in 0..samples {
        times.push(if sample % 2 == 0 {
            let base = baseline();
            (base, subject())
        } else {
            let time = subject();
            (baseline(), time)
        });
    }
    let of = |times: &[(Duration, Duration)]| {
        let base = median(times.iter().map(|(base, _)| *base));
        let time = median(times.iter().map(|(_, time)| *time));
        (base, time, time.as_secs_f64() / base.as_secs_f64())
    };
    let (base, time, ratio) = of(&times);
    let mut parts: Vec<f64> =
        times.chunks(samples.div_ceil(PARTS)).map(|part| of(part).2).collect();
    parts.sort_by(f64::total_cmp);
    Finding {
        work: work.to_owned(),
        measured: format!("{ratio:.2} ({} / {})", readable(time), readable(base)),
        spread: format!("{:.2} to {:.2}", parts[0], parts[parts.len() - 1]),
        target: target.map_or_else(String::new, |target| format!("<= {target:.2}")),
        reached: target.map(|target| ratio <= target),
    }
}

/// Measures work that is too short for one sample: `many(times)` returns how long it took.
pub(crate) fn absolute(
    work: &str,
    target: Option<Duration>,
    samples: usize,
    mut many: impl FnMut(u32) -> Duration,
) -> Finding {
    const TIMES: u32 = 2_000;
    let _ = many(TIMES);
    let mut times: Vec<Duration> = (0..samples).map(|_| many(TIMES) / TIMES).collect();
    let time = median(times.iter().copied());
    times.sort();
    Finding {
        work: work.to_owned(),
        measured: readable(time),
        spread: format!(
            "{} to {}",
            readable(times[samples / 10]),
            readable(times[samples - 1 - samples / 10])
        ),
        target: target.map_or_else(String::new, |target| format!("<= {}", readable(target))),
        reached: target.map(|target| time <= target),
    }
}

/// Returns how long `work` takes.
pub(crate) fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

/// Prints the findings as a Markdown table.
#[expect(clippy::print_stdout, reason = "the findings are what a benchmark is for")]
pub(crate) fn print(findings: &[Finding]) {
    println!("| work | measured | spread | target | reached |\n|---|---|---|---|---|");
    for Finding { work, measured, spread, target, reached } in findings {
        let reached = reached.map_or("", |reached| if reached { "yes" } else { "**no**" });
        println!("| {work} | {measured} | {spread} | {target} | {reached} |");
    }
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times[times.len() / 2]
}

/// Returns a time as people read it.
pub(crate) fn readable(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        ..1.0 => format!("{:.0} ns", micros * 1e3),
        ..100.0 => format!("{micros:.2} us"),
        ..1000.0 => format!("{micros:.0} us"),
        _ => format!("{:.2} ms", micros / 1e3),
    }
}
