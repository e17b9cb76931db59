//! The engine alone: builtins, and events that nothing is for.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hookexec::{Config, Event, Executor};
use tokio::runtime::Runtime;

use crate::measure::{Finding, absolute};
use crate::{Options, support};

pub(crate) fn measure(options: &Options, findings: &mut Vec<Finding>) {
    let cases = [
        ("builtin dispatch, one no-op", support::builtins_file(1), 1000),
        ("dispatch, no match, 1 matcher", support::hooks_file(1), 100),
        ("dispatch, no match, 1000 matchers", support::hooks_file(1000), 500),
    ];
    for (work, file, target) in cases {
        options.add(findings, work, |samples| {
            let executor = executor(&file);
            let runtime = runtime();
            let input = support::input(100);
            absolute(work, Some(Duration::from_nanos(target)), samples, |times| {
                runtime.block_on(async {
                    let started = Instant::now();
                    for _ in 0..times {
                        let _ = black_box(
                            executor.dispatch(Event::PreToolUse, black_box(&input)).await,
                        );
                    }
                    started.elapsed()
                })
            })
        });
    }
}

/// Returns the engine for a hooks file.
pub(crate) fn executor(text: &str) -> Executor {
    let config = Config::from_yaml(text, "hooks.yaml").expect("the file is sound");
    Executor::builder(config).registry(support::registry()).build().expect("the hooks are sound")
}

/// Returns a runtime as the command line uses it.
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts")
}
