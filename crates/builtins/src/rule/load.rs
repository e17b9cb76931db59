//! From the keys of a rule to the rule, with every mistake at its place.

use std::ffi::OsStr;
use std::path::PathBuf;

use hookexec_files::kinds::At;
use hookexec_files::node::Node;
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind as _;

use super::groups::{Groups, ItemKind};
use super::judge::{Answer, Conditions, Rule};
use super::keys::{Items, RuleKeys, SetKeys, Uncertain};
use super::paths::{Machine, PathPattern};
use super::pattern::{Mistake, Pattern};
use super::tools::plain;
use super::uses::Touch;
use crate::builtins::Surroundings;
use hookexec::config::{Groups as OwnGroups, Hook};
use hookexec::handler::BuildError;
use hookexec::registry::HandlerEnv;
use hookexec_files::platform::Platform;

/// Returns a rule that denies commands that fit one of `patterns`, or that can't be known.
pub(super) fn rule_of_commands(patterns: &[String]) -> Result<Rule, Mistake> {
    let own = OwnGroups::default();
    let mut set = Conditions::default();
    for pattern in patterns {
        set.commands.extend(Pattern::list(pattern, &Groups(&own))?);
    }
    let surroundings = Surroundings::of_process();
    let machine = Machine { project: PathBuf::new(), surroundings };
    Ok(Rule {
        answer: Answer::Deny(String::new()),
        sets: vec![set],
        except: Conditions::default(),
        uncertain: Uncertain::Deny,
        otherwise: None,
        machine,
    })
}

pub(super) fn rule(env: &HandlerEnv, hook: &Hook) -> Result<Rule, BuildError> {
    let mut surroundings = Surroundings::of_process();
    // A copy of the environment is only needed for a host with another one.
    let home = OsStr::new(Platform::HERE.home_variable);
    if env.env.get(home) != std::env::var_os(home).as_ref() {
        surroundings = surroundings.with_env((*env.env).clone());
    }
    let machine = Machine { project: env.working_dir.clone(), surroundings };
    hook.read_own_keys(|reader, node| {
        let keys = RuleKeys::read(reader, node, "a rule")?;
        let mut loading = Loading { reader, groups: Groups(hook.groups()), machine: &machine };
        loading.rule(keys, node)
    })
}

struct Loading<'l> {
    reader: &'l mut Reader,
    groups: Groups<'l>,
    machine: &'l Machine,
}

impl Loading<'_> {
    fn rule(&mut self, keys: RuleKeys<'_>, node: &Node<'_>) -> Option<Rule> {
        let answer = self.answer(&keys, node)?;
        if answer == Answer::Allow {
            self.refuse_targets(&keys);
            if let Some(uncertain) = &keys.uncertain {
                let hint = "what can't be known is not allowed; `otherwise` answers it";
                self.reader.error_with_hint(uncertain.node, "an allow takes no `uncertain`", hint);
            }
        } else if let Some(otherwise) = &keys.otherwise {
            let hint = "it answers what an `allow` does not allow";
            self.reader.error_with_hint(otherwise.node, "only an allow takes `otherwise`", hint);
        }
        let own = SetKeys {
            commands: keys.commands,
            targets: keys.targets,
            files: keys.files,
            touched: keys.touched,
            tools: keys.tools,
            ..SetKeys::default()
        };
        if own.is_empty() && keys.any.is_none() && self.reader.errors() == 0 {
            let hint =
                "add `commands`, `targets`, `files` or `tools`; `tools: [\"*\"]` is every call";
            self.reader.error_with_hint(node, "a rule needs a condition", hint);
        }
        let mut sets = Vec::new();
        for set in keys.any.map(|sets| sets.0).unwrap_or_default() {
            let joined = SetKeys {
                commands: self.either(own.commands.as_ref(), set.commands),
                targets: self.either(own.targets.as_ref(), set.targets),
                files: self.either(own.files.as_ref(), set.files),
                touched: self.either(own.touched.as_ref(), set.touched),
                tools: self.either(own.tools.as_ref(), set.tools),
                ..SetKeys::default()
            };
            sets.push(self.conditions(joined));
        }
        if sets.is_empty() {
            sets.push(self.conditions(own));
        }
        let except = self.conditions(keys.except.unwrap_or_default());
        let uncertain = keys.uncertain.map(|word| word.value).unwrap_or_default();
        let otherwise = keys.otherwise.map(|word| word.value);
        Some(Rule { answer, sets, except, uncertain, otherwise, machine: self.machine.clone() })
    }

    /// Returns a key of a set of `any`, or that of the rule beside it.
    fn either<'n>(
        &mut self,
        beside: Option<&Items<'n>>,
        own: Option<Items<'n>>,
    ) -> Option<Items<'n>> {
        if let (Some(_), Some(own)) = (beside, &own) {
            for item in &own.0 {
                let hint = "write it beside `any`, or in each of its sets";
                self.reader.error_with_hint(item.node, "this key stands beside `any`, too", hint);
            }
        }
        own.or_else(|| beside.cloned())
    }

    /// Refuses `targets` in an allow, which looks at all files of a command.
    fn refuse_targets(&mut self, keys: &RuleKeys<'_>) {
        let sets = keys.any.iter().flat_map(|sets| &sets.0).chain(&keys.except);
        let lists = sets.filter_map(|set| set.targets.as_ref()).chain(&keys.targets);
        for item in lists.flat_map(|items| &items.0) {
            let hint = "write `files`: an allow looks at all files of a command";
            self.reader.error_with_hint(item.node, "an allow takes no `targets`", hint);
        }
    }

    fn answer(&mut self, keys: &RuleKeys<'_>, node: &Node<'_>) -> Option<Answer> {
        let mut answers = Vec::new();
        if let Some(reason) = &keys.deny {
            answers.push(Answer::Deny(self.reason(reason)));
        }
        if let Some(reason) = &keys.ask {
            answers.push(Answer::Ask(self.reason(reason)));
        }
        if let Some(allow) = &keys.allow {
            if !allow.value {
                let hint = "write `deny: REASON` or `ask: REASON`, or leave the rule out";
                self.reader.error_with_hint(allow.node, "`allow` is `true` or nothing", hint);
            }
            answers.push(Answer::Allow);
        }
        let answer = answers.pop().filter(|_| answers.is_empty());
        if answer.is_none() {
            let hint = "write `deny: REASON`, `ask: REASON` or `allow: true`";
            self.reader.error_with_hint(node, "a rule needs one answer", hint);
        }
        answer
    }

    fn reason(&mut self, reason: &At<'_, String>) -> String {
        if matches!(reason.value.trim(), "" | "true" | "false") {
            let hint = "write why, for the model and its user";
            self.reader.error_with_hint(reason.node, "the value is the reason", hint);
        }
        reason.value.clone()
    }

    fn conditions(&mut self, keys: SetKeys<'_>) -> Conditions {
        let mut conditions = Conditions::default();
        for item in keys.commands.unwrap_or_default().0 {
            match Pattern::list(&item.value, &self.groups) {
                Ok(patterns) => conditions.commands.extend(patterns),
                Err((message, hint)) => self.reader.error_with_hint(item.node, message, hint),
            }
        }
        conditions.targets = self.paths(keys.targets);
        conditions.files = self.paths(keys.files);
        for item in keys.touched.unwrap_or_default().0 {
            let touch: Option<Touch> = self.reader.value(item.node, "an item of `touched`");
            conditions.touched = conditions.touched.with(touch.unwrap_or_default());
        }
        for item in keys.tools.unwrap_or_default().0 {
            if item.value.starts_with('!') {
                let hint = "write it without `!` into the `tools` of `except`";
                self.reader.error_with_hint(item.node, "`tools` takes no `!`", hint);
            }
            for name in item.value.split('|') {
                match self.groups.of_kind(name.trim(), ItemKind::Tools) {
                    Ok(names) => conditions.tools.extend(names.iter().map(|name| plain(name))),
                    Err((message, hint)) => self.reader.error_with_hint(item.node, message, hint),
                }
            }
        }
        conditions
    }

    fn paths(&mut self, items: Option<Items<'_>>) -> Vec<PathPattern> {
        let mut patterns = Vec::new();
        let items = items.unwrap_or_default().0;
        for item in &items {
            match self.paths_of(&item.value) {
                Ok(read) => patterns.extend(read),
                Err((message, hint)) => self.reader.error_with_hint(item.node, message, hint),
            }
        }
        if let Some(first) = items.first()
            && items.iter().all(|item| item.value.starts_with('!'))
        {
            let hint = "add what it takes away from, such as `\"/**\"`";
            self.reader.error_with_hint(
                first.node,
                "a list of exceptions alone fits nothing",
                hint,
            );
        }
        patterns
    }

    fn paths_of(&self, item: &str) -> Result<Vec<PathPattern>, Mistake> {
        let mut patterns = Vec::new();
        for path in self.groups.of_kind(item, ItemKind::Paths)? {
            patterns.extend(PathPattern::parse(item, &path, self.machine)?);
        }
        Ok(patterns)
    }
}
