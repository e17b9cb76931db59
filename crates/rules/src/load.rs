//! From the keys of a rule to the rule, with every mistake at its place, and to warnings about words that
//! mean something else than their author may think.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use hookexec_files::kinds::At;
use hookexec_files::node::Node;
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind as _;
use hookexec_files::suggest;

use super::groups::{Groups, is_group, shipped};
use super::judge::{Answer, Conditions, Rule};
use super::keys::{Items, RuleKeys, SetKeys, Sets, Uncertain};
use super::paths::{Machine, PathList, PathPattern};
use super::pattern::{ListedPattern, Mistake, Pattern, mistake};
use super::tools::ToolName;
use super::uses::Touch;
use crate::names::FILE_KINDS;
use hookexec::config::{Diagnostic, Groups as OwnGroups, Hook};
use hookexec::{BuildError, HandlerEnv};
use hookexec_calls::Surroundings;
use hookexec_calls::tools::kinds_anywhere;
use hookexec_files::platform::Platform;

/// Returns a rule that denies commands that fit one of `patterns`, or that can't be known.
pub(super) fn rule_of_commands(patterns: &[String]) -> Result<Rule, Mistake> {
    let own = OwnGroups::default();
    let mut set = Conditions::default();
    for pattern in patterns {
        set.commands.extend(ListedPattern::list(pattern, &Groups(&own))?);
    }
    let surroundings = Surroundings::of_process();
    let machine = Arc::new(Machine { project: PathBuf::new(), surroundings });
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
    let machine = Arc::new(Machine { project: env.working_dir.clone(), surroundings });
    hook.read_own_keys(|reader, node| {
        let keys = RuleKeys::read(reader, node, "a rule")?;
        let mut loading = Loading { reader, groups: Groups(hook.groups()), machine: &machine };
        loading.rule(keys, node)
    })
}

struct Loading<'l> {
    reader: &'l mut Reader,
    groups: Groups<'l>,
    machine: &'l Arc<Machine>,
}

impl Loading<'_> {
    fn rule(&mut self, mut keys: RuleKeys<'_>, node: &Node<'_>) -> Option<Rule> {
        let answer = self.answer(&keys, node)?;
        if answer == Answer::Allow {
            if let Some(uncertain) = &keys.uncertain {
                let hint = "what can't be known is not allowed; `otherwise` answers it";
                self.reader.error_with_hint(uncertain.node, "an allow takes no `uncertain`", hint);
            }
        } else if let Some(otherwise) = &keys.otherwise {
            let hint = "it answers what an `allow` does not allow";
            self.reader.error_with_hint(otherwise.node, "only an allow takes `otherwise`", hint);
        }
        let mut own = keys.take_own();
        if own.is_empty() && keys.any.is_none() && self.reader.errors() == 0 {
            let hint =
                "add `commands`, `targets`, `files` or `tools`; `tools: [\"*\"]` is every call";
            self.reader.error_with_hint(node, "a rule needs a condition", hint);
        }
        let mut sets = Vec::new();
        self.check_targets(&answer, own.targets.as_ref());
        // Without `any` one set has all keys.
        for mut set in keys.any.unwrap_or(Sets(vec![SetKeys::default()])).0 {
            self.check_targets(&answer, set.targets.as_ref());
            for (key, beside) in set.keys().into_iter().zip(own.keys()) {
                self.join(key, beside.as_ref());
            }
            sets.push(self.conditions(set));
        }
        let except = keys.except.unwrap_or_default();
        self.check_targets(&answer, except.targets.as_ref());
        let except = self.conditions(except);
        let uncertain = keys.uncertain.map(|word| word.value).unwrap_or_default();
        let otherwise = keys.otherwise.map(|word| word.value);
        Some(Rule { answer, sets, except, uncertain, otherwise, machine: Arc::clone(self.machine) })
    }

    /// Gives a set of `any` a key that stands beside it.
    fn join<'n>(&mut self, key: &mut Option<Items<'n>>, beside: Option<&Items<'n>>) {
        let Some(beside) = beside else { return };
        for item in &key.as_ref().unwrap_or(&Items::default()).0 {
            let hint = "write it beside `any`, or in each of its sets";
            self.reader.error_with_hint(item.node, "this key stands beside `any`, too", hint);
        }
        key.get_or_insert(beside.clone());
    }

    /// Refuses `targets` in an allow, which looks at all files of a command.
    fn check_targets(&mut self, answer: &Answer, targets: Option<&Items<'_>>) {
        if let (Answer::Allow, Some(targets)) = (answer, targets) {
            for item in &targets.0 {
                let hint = "write `files`: an allow looks at all files of a command";
                self.reader.error_with_hint(item.node, "an allow takes no `targets`", hint);
            }
        }
    }

    fn answer(&mut self, keys: &RuleKeys<'_>, node: &Node<'_>) -> Option<Answer> {
        let answers = ["deny", "ask", "allow"].into_iter();
        let written = answers.filter(|key| keys.fields.get(key).is_some()).count();
        match (&keys.deny, &keys.ask, &keys.allow) {
            (Some(reason), None, None) => Some(Answer::Deny(self.reason(reason))),
            (None, Some(reason), None) => Some(Answer::Ask(self.reason(reason))),
            (None, None, Some(allow)) => {
                if !allow.value {
                    let hint = "write `deny: REASON` or `ask: REASON`, or leave the rule out";
                    self.reader.error_with_hint(allow.node, "`allow` is `true` or nothing", hint);
                }
                Some(Answer::Allow)
            }
            // The mistake in its value is reported already.
            _ if written == 1 => None,
            _ => {
                let hint = "write `deny: REASON`, `ask: REASON` or `allow: true`";
                self.reader.refuse_with_hint(node, "a rule needs one answer", hint)
            }
        }
    }

    fn reason(&mut self, reason: &At<'_, String>) -> String {
        let text = reason.value.trim();
        if matches!(text, "" | "true" | "false" | "yes") || text.parse::<f64>().is_ok() {
            let message = format!("`{text}` is not a reason");
            let hint = "the value is the reason: write why, for the model and its user";
            self.reader.error_with_hint(reason.node, message, hint);
        }
        if text.contains("${") {
            let hint = "write it as a text; the answer names what fits";
            self.reader.error_with_hint(reason.node, "a reason takes no fields", hint);
        }
        reason.value.clone()
    }

    fn conditions(&mut self, keys: SetKeys<'_>) -> Conditions {
        let mut conditions = Conditions::default();
        for item in keys.commands.unwrap_or_default().0 {
            let patterns = ListedPattern::list(&item.value, &self.groups);
            conditions.commands.extend(self.read(&item, patterns));
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
                let names = self.groups.of_kind(name.trim(), "tools");
                for name in self.read(&item, names) {
                    conditions.tools.push(ToolName::listed(name));
                }
            }
        }
        conditions
    }

    /// Returns what was read of an item, and notes the mistake in it.
    fn read<T>(&mut self, item: &At<'_, String>, read: Result<Vec<T>, Mistake>) -> Vec<T> {
        read.unwrap_or_else(|(message, hint)| {
            self.reader.error_with_hint(item.node, message, hint);
            Vec::new()
        })
    }

    fn paths(&mut self, items: Option<Items<'_>>) -> PathList {
        let mut list = PathList::on(self.machine);
        let items = items.unwrap_or_default().0;
        for item in &items {
            let paths = self.paths_of(&item.value);
            for path in self.read(item, paths) {
                list.items.push((item.value.clone(), path));
            }
        }
        if let Some(first) = items.first()
            && items.iter().all(|item| item.value.starts_with('!'))
        {
            let hint = "add what it takes away from, such as `\"/**\"`";
            let message = "a list of exceptions alone fits nothing";
            self.reader.error_with_hint(first.node, message, hint);
        }
        list
    }

    /// Returns the paths that an item stands for, without a mistake in one that is not shipped.
    fn paths_of(&self, item: &str) -> Result<Vec<Cow<'static, str>>, Mistake> {
        if let Some(excepted) = item.strip_prefix('!')
            && is_group(excepted)
        {
            return self.excepted_paths(excepted);
        }
        let paths = self.groups.of_kind(item, "paths")?;
        for path in &paths {
            // The shipped ones have no mistakes, but need a home.
            if matches!(path, Cow::Owned(_)) || self.machine.surroundings.home().is_none() {
                PathPattern::parse(item, path, self.machine)?;
            }
        }
        Ok(paths)
    }

    /// Returns the paths of a group, each as one that takes away.
    fn excepted_paths(&self, group: &str) -> Result<Vec<Cow<'static, str>>, Mistake> {
        let mut paths = self.paths_of(group)?;
        for path in &mut paths {
            if path.starts_with('!') {
                let message = format!("`!{group}` has exceptions of its own: `{path}`");
                return mistake(message, format!("write `{group}` into the `files` of `except`"));
            }
            *path = Cow::Owned(format!("!{path}"));
        }
        Ok(paths)
    }
}

/// Returns a warning for each word of a rule that is the name of a group without its `@`, for each option
/// that is nearly a known one, for each group that takes the place of a shipped one, for `commands` beside
/// a matcher of tools that run none, and for an address in `except` that takes nothing away.
pub fn doubts(hook: &Hook) -> Vec<Diagnostic> {
    if hook.kind != "rule" {
        return Vec::new();
    }
    let found = hook.read_own_keys(|reader, node| {
        let keys = RuleKeys::read(reader, node, "a rule")?;
        let mut found = Vec::new();
        if keys.commands.is_some()
            && let Some(mut names) = hook.matcher.names()
            && names.all(runs_no_command)
        {
            let matcher = hook.matcher.as_str();
            let message = format!("its `commands` fit nothing: `matcher: {matcher}` is of files");
            let problem = Diagnostic::warning(message).hint("leave the matcher out");
            let place = hook.key_locations.get("matcher").unwrap_or(&hook.location);
            found.push(problem.at(place.clone()));
        }
        let mut lists = Vec::new();
        let has_except = keys.except.is_some();
        let sets = keys.sets();
        if has_except
            && let Some((SetKeys { files: Some(items), .. }, others)) = sets.split_last()
            && others.iter().all(|set| set.files.is_none())
        {
            let message = "it takes nothing away: an address is not a target of a command";
            let hint = "write the words of the command into the `commands` of `except`";
            for item in &items.0 {
                if item.value.contains("://") {
                    let place = reader.location(item.node);
                    found.push(Diagnostic::warning(message).hint(hint).at(place));
                }
            }
        }
        for set in sets {
            lists.extend([set.commands, set.targets, set.files, set.tools]);
        }
        for list in lists.into_iter().flatten() {
            for item in list.0 {
                if let Some(doubt) = doubt(&item, hook.groups()) {
                    found.push(doubt.at(reader.location(item.node)));
                }
            }
        }
        Some(found)
    });
    found.unwrap_or_default()
}

/// Returns whether every tool of this name or kind does nothing but use files.
fn runs_no_command(name: &str) -> bool {
    let kinds = kinds_anywhere(name);
    if kinds.is_empty() {
        return FILE_KINDS.contains(&name);
    }
    kinds.iter().all(|kind| FILE_KINDS.contains(&kind.as_str()))
}

fn doubt(item: &At<'_, String>, own: &OwnGroups) -> Option<Diagnostic> {
    let pattern = Pattern::parse(&item.value, &Groups(own)).ok();
    for word in item.value.split([' ', '|', '!']) {
        if let Some(pattern) = &pattern
            && let Some(known) = pattern.nearly(word)
        {
            let problem = Diagnostic::warning(format!("no known option is `{word}`"));
            return Some(problem.hint(suggest::question(known)));
        }
        if is_group(word) && own.get(word).is_some() && shipped(word).is_some() {
            let message =
                format!("`{word}` is the group of this file, without what the shipped one has");
            let hint = "give it another name, and list both";
            return Some(Diagnostic::warning(message).hint(hint));
        }
    }
    let group = format!("@{}", item.value);
    if is_group(&group) && Groups(own).has(&group) {
        let message = format!("`{}` is not the group `{group}`", item.value);
        return Some(Diagnostic::warning(message).hint(format!("write `\"{group}\"`")));
    }
    None
}
