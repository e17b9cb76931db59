//! Hook types: each has a factory, which builds handlers and tells which keys of a hook it takes.

use std::sync::Arc;

use hookexec_files::section::Key;
use serde_json::{Map, Value, json};

use super::HandlerEnv;
use crate::config::{Command, Hook};
use crate::handler::{BuildError, Handler};

/// The result of building a handler.
pub type BuildResult = Result<Arc<dyn Handler>, BuildError>;

/// A hook type: builds the handlers of its hooks, and tells which keys they take.
///
/// A hook with a key that its type does not take is an error at the line of the key.
#[derive(Clone)]
#[must_use = "a factory does nothing before it is registered"]
pub struct HandlerFactory {
    pub(super) build: Arc<BuildHandler>,
    command: CommandKey,
    /// The keys that a hook of this type must not have.
    refused: &'static [&'static str],
    /// Tells the user what to do about such a key.
    hint: &'static str,
    /// Whether its hooks may be written in the words of an agent.
    pub(crate) takes_dialect: bool,
    /// The keys that only hooks of this type have.
    pub(crate) own: &'static [Key],
}

type BuildHandler = dyn Fn(&HandlerEnv, &Hook) -> BuildResult + Send + Sync;

/// The use that a hook type has for `command`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CommandKey {
    /// It may be left out, or is refused.
    Optional,
    /// Text or a list to run. The text says what to add if it is missing.
    Program(&'static str),
    /// The name of something. The text says what to add if it is missing.
    Name(&'static str),
}

impl HandlerFactory {
    /// Returns a factory that builds handlers by `build`, for hooks that may have every key but
    /// `dialect`.
    ///
    /// `build` checks each hook of the type, once, when the executor is built, and returns its
    /// handler. It must not start anything. Its error is shown with file, line and column.
    pub fn new(build: impl Fn(&HandlerEnv, &Hook) -> BuildResult + Send + Sync + 'static) -> Self {
        Self {
            build: Arc::new(build),
            command: CommandKey::Optional,
            refused: &[],
            hint: "",
            takes_dialect: false,
            own: &[],
        }
    }

    /// Adds keys that only hooks of this type have; the builder reads them with
    /// [`Hook::read_own_keys`].
    pub fn taking(mut self, keys: &'static [Key]) -> Self {
        self.own = keys;
        self
    }

    /// Refuses further keys of a hook, such as `working_dir`, that mean nothing to the type. `hint` tells
    /// the user what to write instead.
    pub fn refusing(mut self, keys: &'static [&'static str], hint: &'static str) -> Self {
        self.refused = keys;
        self.hint = hint;
        self
    }

    /// Says what its hooks have `command` for.
    pub(crate) fn with_command(mut self, command: CommandKey) -> Self {
        self.command = command;
        self
    }

    /// Lets its hooks have a `dialect`: the handler asks by [`HandlerEnv::words`].
    pub fn with_dialect(mut self) -> Self {
        self.takes_dialect = true;
        self
    }

    /// Builds the handler of a hook.
    ///
    /// # Errors
    /// When the hook has no valid definition.
    pub fn build(&self, env: &HandlerEnv, hook: &Hook) -> BuildResult {
        (self.build)(env, hook)
    }

    fn refused_keys(&self) -> impl Iterator<Item = &&'static str> {
        let is_known = self.takes_dialect || self.refused.contains(&"dialect");
        let dialect: &[&str] = if is_known { &[] } else { &["dialect"] };
        self.refused.iter().chain(dialect)
    }

    /// Returns the mistakes in the keys of `hook`, which is of this type.
    pub(crate) fn mistakes(&self, hook: &Hook) -> Vec<BuildError> {
        let kind = &hook.kind;
        let mut mistakes = Vec::new();
        for key in self.refused_keys() {
            if hook.key_locations.get(key).is_some() {
                let message = format!("`{key}` has no meaning for hooks of type `{kind}`");
                let hint = if *key == "dialect" {
                    "leave it out: its answers have a form of their own"
                } else {
                    self.hint
                };
                mistakes.push(BuildError::new(message).at(key).hint(hint));
            }
        }
        let known: Vec<&str> = self.own.iter().map(|key| key.name).collect();
        mistakes.extend(hook.unknown_own_keys(&known));
        match (self.command, &hook.command) {
            (CommandKey::Program(wanted) | CommandKey::Name(wanted), None) => {
                let missing = BuildError::new("a hook needs a `command`");
                mistakes.push(missing.hint(format!("add {wanted}")));
            }
            (CommandKey::Name(_), Some(Command::Argv(_))) => {
                let message = format!("the `command` of a {kind} hook is a name, not a list");
                let list = BuildError::new(message).at("command");
                mistakes.push(list.hint("what it takes goes into `args`"));
            }
            _ => {}
        }
        mistakes
    }

    /// Returns what the JSON schema says of a hook of this type.
    pub(crate) fn schema(&self) -> Value {
        let mut keys = Map::new();
        for key in self.refused_keys() {
            keys.insert((*key).to_owned(), false.into());
        }
        for key in self.own {
            keys.insert(key.name.to_owned(), key.described());
        }
        if matches!(self.command, CommandKey::Name(_)) {
            keys.insert("command".to_owned(), json!({ "type": "string" }));
        }
        let required: &[&str] = match self.command {
            CommandKey::Program(_) | CommandKey::Name(_) => &["command"],
            CommandKey::Optional => &[],
        };
        json!({ "properties": keys, "required": required })
    }
}

#[cfg(test)]
mod tests {
    use hookexec_files::section;

    use super::*;
    use crate::Builtin;
    use crate::config::Config;
    use crate::describe::{self, CallDescription, DescribeCall};
    use crate::dialect::{Dialect, NotInDialect, Payloads};
    use crate::event::Event;
    use crate::executor::Executor;
    use crate::handler::{BoxFuture, Call, HandlerError, HandlerResult, Silent};
    use crate::matcher::Matcher;
    use crate::registry::Registry;
    use crate::wire::{Input, Output};

    struct Denying;

    impl Handler for Denying {
        fn run<'a>(
            &'a self,
            _: &'a Call<'a>,
        ) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
            Box::pin(async { Ok(Output::deny("no").into()) })
        }
    }

    fn silent() -> HandlerFactory {
        HandlerFactory::new(|_, _| Ok(Arc::new(Silent)))
    }

    fn problems(registry: Registry, hook: &str) -> String {
        let config = Config::from_yaml(&format!("stop:\n  - {hook}\n"), "hooks.yaml").unwrap();
        match Executor::builder(config).registry(registry).build() {
            Ok(_) => String::new(),
            Err(problems) => problems.to_string(),
        }
    }

    #[test]
    fn keys_that_a_type_refuses_are_errors_at_their_lines_and_in_the_schema() {
        let mut registry = Registry::new();
        registry.register("own", silent().refusing(&["shell", "dialect"], "it starts no program"));
        assert_eq!(problems(registry.clone(), "{ type: own, command: x, args: [y] }"), "");
        let hook = "{ type: own, shell: sh, dialect: claude-code }";
        let told = problems(registry.clone(), hook);
        assert!(
            told.contains("hooks.yaml:2:25: `shell` has no meaning for hooks of type `own`"),
            "{told}"
        );
        assert_eq!(told.matches("`dialect` has no meaning").count(), 1, "{told}");
        let schema = registry.config_schema();
        let types = schema["definitions"]["hook"]["allOf"].as_array().unwrap();
        let own = types.iter().find(|rule| rule["if"]["properties"]["type"]["const"] == "own");
        assert_eq!(own.unwrap()["then"]["properties"]["shell"], false);
    }

    section! {
        /// The keys of the type of the test below.
        Colours, "a hook of the type `own`":
        colour "colour": String, "none", "a colour";
    }

    #[test]
    fn a_type_has_keys_of_its_own_and_finds_their_mistakes_at_their_places() {
        let mut registry = Registry::new();
        let build = |_: &HandlerEnv, hook: &Hook| {
            let Colours { colour } =
                hook.read_own_keys(|reader, node| reader.value(node, "a hook"))?;
            assert_eq!(colour.as_deref(), Some("red"));
            Ok(Arc::new(Silent) as Arc<dyn Handler>)
        };
        registry.register("own", HandlerFactory::new(build).taking(Colours::KEYS));
        registry.register("other", silent());
        assert_eq!(problems(registry.clone(), "{ type: own, colour: red }"), "");
        for (hook, problem) in [
            ("{ type: own, colour: [red] }", "hooks.yaml:2:26: `colour` must be text, not a list"),
            ("{ type: own, color: red }", "unknown key `color` in a hook"),
            ("{ type: other, colour: red }", "unknown key `colour` in a hook"),
        ] {
            let told = problems(registry.clone(), hook);
            assert!(told.contains(problem), "{hook}: {told}");
        }
        let schema = registry.config_schema();
        let hook = &schema["definitions"]["hook"];
        assert_eq!(hook["properties"]["colour"], true);
        for rule in hook["allOf"].as_array().unwrap() {
            let colour = &rule["then"]["properties"]["colour"];
            let is_own = rule["if"]["properties"]["type"]["const"] == "own";
            assert_eq!(colour.is_object(), is_own, "{rule}");
        }
    }

    #[test]
    fn a_type_of_a_program_refuses_a_dialect_beside_other_keys() {
        let mut registry = Registry::new();
        registry.register("own", silent().refusing(&["shell"], "it starts no program"));
        let told = problems(registry, "{ type: own, dialect: claude-code }");
        assert!(told.contains("`dialect` has no meaning for hooks of type `own`"), "{told}");
    }

    #[test]
    fn a_type_or_a_builtin_that_is_registered_twice_is_an_error() {
        let nothing = || Builtin::inline(|_, _: &[String]| Ok::<_, String>(None));
        let mut registry = Registry::new();
        registry.register("command", silent());
        registry.register_builtin("mine", nothing()).register_builtin("mine", nothing());
        let told = problems(registry, "{ type: command, command: 'true' }");
        for name in ["hook type `command`", "builtin `mine`"] {
            assert!(told.contains(&format!("the {name} is registered twice")), "{told}");
        }
    }

    #[derive(Debug)]
    struct Shouting;

    impl Dialect for Shouting {
        fn name(&self) -> &'static str {
            "shouting"
        }

        fn title(&self) -> &'static str {
            "Shouting"
        }

        fn knows(&self, event: Event) -> bool {
            event == Event::PreToolUse
        }

        fn takes_text(&self, _: Event) -> bool {
            false
        }

        fn tool_names(&self, input: &Input) -> Vec<String> {
            vec![input.tool().to_uppercase()]
        }

        fn payloads<'i>(
            &self,
            _: &Matcher,
            input: &'i Input,
        ) -> Result<Payloads<'i>, NotInDialect> {
            let shouted = json!({ "TOOL": input.tool().to_uppercase() });
            Ok(Box::new(shouted.as_object().cloned().into_iter()))
        }

        fn take_back(
            &self,
            _: &Matcher,
            _: &Input,
            output: &mut Output,
        ) -> Result<(), NotInDialect> {
            output.reason = output.reason.take().map(|reason| reason.to_lowercase());
            Ok(())
        }
    }

    // The hook is a text, which needs Git Bash on Windows.
    #[cfg(unix)]
    #[tokio::test]
    async fn a_dialect_of_a_program_is_used_by_its_name() {
        let mut registry = Registry::new();
        registry.register_dialect(&Shouting);
        let told = problems(registry.clone(), "{ type: command, command: x, dialect: shouting }");
        assert!(told.contains("Shouting has no event for `stop`"), "{told}");
        let told = problems(registry.clone(), "{ type: command, command: x, dialect: shoutin }");
        assert!(told.contains("unknown dialect `shoutin`"), "{told}");
        let names = &registry.config_schema()["definitions"]["hook"]["properties"]["dialect"];
        assert_eq!(names["enum"], json!(["shouting"]));

        let hook = "{ type: command, dialect: shouting, command: 'grep -q SHELL && echo NO >&2 && exit 2' }";
        let text = format!("pre_tool_use: [{{ matcher: SHELL, hooks: [{hook}] }}]");
        let config = Config::from_yaml(&text, "hooks.yaml").unwrap();
        let executor = Executor::builder(config).registry(registry).build().unwrap();
        let verdict = executor.dispatch(Event::PreToolUse, &Input::call("shell")).await;
        assert_eq!(verdict.message.as_deref(), Some("no"), "{verdict:#?}");
    }

    /// Takes the argument `run` of every tool for a program.
    #[derive(Debug)]
    struct Runs;

    impl DescribeCall for Runs {
        fn describe(&self, input: &Input) -> CallDescription {
            let mut description = CallDescription::default();
            if let Some(program) = input.tool_input.as_ref().and_then(|all| all["run"].as_str()) {
                let program = program.to_owned();
                description.commands.push(describe::Command { program, ..Default::default() });
            }
            description
        }

        fn kinds(&self, _: Option<&str>, tool: &str) -> Vec<String> {
            vec![tool.to_lowercase()]
        }
    }

    #[tokio::test]
    async fn conditions_on_commands_need_something_that_reads_them() {
        let text = "
pre_tool_use:
  - hooks:
      - { type: own, when: { any: commands, field: program, equals: rm } }";
        let config = Config::from_yaml(text, "hooks.yaml").unwrap();
        let mut registry = Registry::empty();
        registry.register("own", HandlerFactory::new(|_, _| Ok(Arc::new(Denying))));
        let build = |registry: &Registry| {
            Executor::builder(config.clone()).registry(registry.clone()).build()
        };
        let problems = build(&registry).err().unwrap().to_string();
        assert!(
            problems.contains("hooks.yaml:4:28: `when` looks at commands or files"),
            "{problems}"
        );

        registry.describe_calls_by(&Runs);
        let executor = build(&registry).unwrap();
        for (program, allowed) in [("rm", false), ("ls", true)] {
            let input = Input::call("tool").arg("run", program);
            let verdict = executor.dispatch(Event::PreToolUse, &input).await;
            assert_eq!(verdict.allowed, allowed, "{program}: {verdict:#?}");
        }
    }

    #[test]
    fn a_wrapped_type_keeps_its_keys() {
        let mut registry = Registry::new();
        registry.wrap_handlers(|_, _| Arc::new(Silent));
        assert_eq!(problems(registry.clone(), "{ type: command, command: 'true' }"), "");
        let told = problems(registry, "{ type: command, command: 'true', with: 1 }");
        assert!(told.contains("`with` has no meaning for hooks of type `command`"), "{told}");
    }
}
