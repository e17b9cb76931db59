//! What hooks of a project that are slow or late leave to others.

use std::sync::Condvar;

use tokio::sync::OwnedSemaphorePermit;

use super::layered::in_layer;
use super::*;

/// More threads than the seats of a project, fewer than its hooks.
const THREADS: usize = 40;
const HOOKS: usize = 48;

fn of_project(hook: Hook, number: usize) -> Hook {
    // Two that are the same run once.
    in_layer(Layer::Project, Hook { name: Some(number.to_string()), ..hook })
}

/// Takes all places that are free.
fn free_seats(executor: &Executor) -> Vec<OwnedSemaphorePermit> {
    let rank = Layer::Project.rank();
    let seats = &executor.capacity.seats[rank];
    std::iter::from_fn(|| Arc::clone(seats).try_acquire_owned().ok()).collect()
}

#[test]
fn late_builtins_of_a_project_leave_threads_to_others() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let mut registry = registry();
    let shut = Arc::clone(&gate);
    registry.register_builtin(
        "wait",
        Builtin::blocking(move |_: &Input, _: &[String]| {
            let _open = shut.1.wait_while(shut.0.lock().unwrap(), |open| !*open);
            Ok::<_, String>(None)
        }),
    );
    registry.register_builtin(
        "deny",
        Builtin::blocking(|_: &Input, _: &[String]| Ok::<_, String>(Some(Output::deny("user")))),
    );
    let late = |number| {
        let mut hook = of_project(hook(PreToolUse, "wait", &[]), number);
        (hook.timeout, hook.on_error) = (Duration::from_millis(1), Some(OnError::Ignore));
        hook.phase = Phase::Mutate;
        hook
    };
    let mut hooks: Vec<Hook> = (0..HOOKS).map(late).collect();
    hooks.push(in_layer(Layer::User, hook(PreToolUse, "deny", &[])));
    let config = Config { hooks, ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(THREADS).build().unwrap();
    let verdict = runtime.block_on(executor.dispatch(PreToolUse, &call("ls")));
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();

    assert_eq!(verdict.message.as_deref(), Some("user"), "{verdict:#?}");
    let late = verdict.hooks.iter().filter(|hook| hook.status == HookStatus::Failed);
    assert_eq!(late.count(), HOOKS);
    // Each gives back its place when its function ends.
    while free_seats(&executor).len() < 32 {
        std::thread::yield_now();
    }
}

#[cfg(unix)]
#[tokio::test]
async fn programs_of_a_project_wait_for_those_that_run_and_others_do_not() {
    let program = |text: &str| Hook::new(PreToolUse, "command", Command::Text(text.into()));
    let mut slow = of_project(program("exit 0"), 1);
    (slow.timeout, slow.on_error) = (Duration::from_millis(100), Some(OnError::Warn));
    let guard = in_layer(Layer::User, program("echo user >&2; exit 2"));
    let config = Config { hooks: vec![slow, guard], ..Config::default() };
    let executor = Executor::builder(config).build().unwrap();
    let seats = free_seats(&executor);
    assert_eq!(seats.len(), 32);
    let verdict = executor.dispatch(PreToolUse, &call("ls")).await;
    assert_eq!(verdict.message.as_deref(), Some("user"));
    let error = verdict.hooks[0].error.as_deref().unwrap();
    assert!(error.contains("as many hooks of its layer were running"), "{error}");
    drop(seats);
    let verdict = executor.dispatch(PreToolUse, &call("ls")).await;
    assert_eq!(verdict.hooks[0].status, HookStatus::Ok, "{verdict:#?}");
}
