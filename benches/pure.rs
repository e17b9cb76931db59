//! What the engine costs where no process is involved: reading, choosing, folding, JSON.
//!
//! Run with `cargo bench --bench pure`; arguments after `--` are criterion's own.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't run has nothing to say")]

mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hookexec::matcher::Matcher;
use hookexec::{Config, Event, Executor, Input, Output};

criterion_group!(benches, parse, matchers, select, fold, json);
criterion_main!(benches);

/// Text of a file to hooks.
fn parse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    for count in [1, 100, 1000] {
        let text = support::hooks_file(count);
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("hooks", count), |bencher| {
            bencher.iter(|| Config::from_yaml(black_box(&text), "hooks.yaml").unwrap());
        });
        let config = Config::from_yaml(&text, "hooks.yaml").unwrap();
        group.bench_function(BenchmarkId::new("build", count), |bencher| {
            bencher.iter_batched(
                || config.clone(),
                |config| Executor::builder(config).build().unwrap(),
                criterion::BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// One matcher: when the file is read, at its first use, at any other.
fn matchers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("matcher");
    for (name, pattern) in [
        ("names", "shell|edit_file"),
        ("pattern", "mcp__.*__write.*"),
        ("classes", r"\w+\s+rm\s+-rf"),
    ] {
        group.bench_function(BenchmarkId::new("read", name), |bencher| {
            bencher.iter(|| Matcher::new(black_box(pattern)).unwrap());
        });
        group.bench_function(BenchmarkId::new("read and first use", name), |bencher| {
            bencher.iter(|| Matcher::new(black_box(pattern)).unwrap().matches("shell"));
        });
        let matcher = Matcher::new(pattern).unwrap();
        group.bench_function(BenchmarkId::new("use", name), |bencher| {
            bencher.iter(|| matcher.matches(black_box("shell")));
        });
    }
    group.finish();
}

/// A dispatch that matches nothing.
fn select(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dispatch, no match");
    let input = support::input(100);
    for count in [0, 1, 100, 1000] {
        let executor = executor(&support::hooks_file(count.max(1)));
        // An event without a hook is the shortest way of all.
        let event = if count == 0 { Event::ToolGuard } else { Event::PreToolUse };
        group.bench_function(BenchmarkId::new("matchers", count), |bencher| {
            bencher.iter_custom(|times| dispatches(&executor, event, &input, times));
        });
    }
    group.finish();
}

/// A dispatch of builtins that say nothing: what is left is the engine's own.
fn fold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dispatch, builtins");
    let input = support::input(100);
    for count in [1, 10, 100] {
        let executor = executor(&support::builtins_file(count));
        group.bench_function(BenchmarkId::new("hooks", count), |bencher| {
            bencher.iter_custom(|times| dispatches(&executor, Event::PreToolUse, &input, times));
        });
    }
    group.finish();
}

/// What crosses a boundary.
fn json(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("json");
    for size in [100, 100_000] {
        let input = support::input(size);
        let text = serde_json::to_string(&input).unwrap();
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::new("read an input", size), |bencher| {
            bencher.iter(|| serde_json::from_str::<Input>(black_box(&text)).unwrap());
        });
        group.bench_function(BenchmarkId::new("write an input", size), |bencher| {
            bencher.iter(|| serde_json::to_vec(black_box(&input)).unwrap());
        });
    }
    let answer = r#"{"decision":"deny","reason":"rm -rf is not allowed","hookSpecificOutput":{"hookEventName":"PreToolUse"}}"#;
    group.throughput(Throughput::Bytes(answer.len() as u64));
    group.bench_function("read an answer", |bencher| {
        bencher.iter(|| Output::parse(black_box(answer)).unwrap());
    });
    group.finish();
}

fn executor(text: &str) -> Executor {
    let config = Config::from_yaml(text, "hooks.yaml").unwrap();
    Executor::builder(config).registry(support::registry()).build().unwrap()
}

/// Returns how long `times` dispatches take one after the other, the runtime's own start left out.
fn dispatches(executor: &Executor, event: Event, input: &Input, times: u64) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let started = Instant::now();
        for _ in 0..times {
            let _ = black_box(executor.dispatch(event, black_box(input)).await);
        }
        started.elapsed()
    })
}
