//! The hooks that `hookexec init NAME` adds: recipes, and single rules of the user's starter.

use hookexec_files::files::{is_program, programs};

use crate::CommandError;

/// Hooks with a name, as the text of a hooks file.
pub(crate) struct Recipe {
    pub(crate) name: &'static str,
    pub(super) text: String,
    /// The programs that its hooks call.
    needs: &'static [&'static str],
}

macro_rules! recipes {
    ($($name:literal: [$($program:literal),*];)+) => {
        [$(($name, include_str!(concat!("../../../../../examples/recipes/", $name, ".yaml")),
            &[$($program),*])),+]
    };
}

const RECIPES: [(&str, &str, &[&str]); 15] = recipes! {
    "approve": [];
    "budget": [];
    "commit-message": [];
    "databases": [];
    "force-push": [];
    "format": ["jq", "perl"];
    "log": [];
    "main-branch": ["git"];
    "mcp-allow-list": [];
    "notify": ["curl", "jq"];
    "read-only": [];
    "secrets": [];
    "subagents": [];
    "team": [];
    "tests-before-stop": ["make"];
};

/// Returns all recipes, and the rules of the starter whose names no recipe has.
pub(crate) fn all() -> Vec<Recipe> {
    let mut all = Vec::new();
    for (name, text, needs) in RECIPES {
        all.push(Recipe { name, text: text.to_owned(), needs });
    }
    // A comment stands above each rule.
    for part in include_str!("../../starter/user.yaml").split("\n        # ").skip(1) {
        let Some((comment, rule)) = part.split_once('\n') else { continue };
        let mut lines = rule.lines();
        let name = lines.find_map(|line| line.trim_start().strip_prefix("name: "));
        if let Some(name) = name
            && !all.iter().any(|recipe| recipe.name == name)
        {
            let rule = rule.trim_end();
            let text = format!("# {comment}\nhooks:\n  pre_tool_use:\n    - hooks:\n{rule}\n");
            all.push(Recipe { name, text, needs: &[] });
        }
    }
    all
}

/// Returns the names of all.
pub(super) fn names() -> Vec<&'static str> {
    all().iter().map(|recipe| recipe.name).collect()
}

impl Recipe {
    /// Returns the recipe `name`, if the programs are there that it needs.
    pub(super) fn named(name: &str) -> Result<Self, CommandError> {
        let mut all = all().into_iter();
        let Some(recipe) = all.find(|recipe| recipe.name == name) else {
            return Err(CommandError::internal(format!("the recipe `{name}` does not exist")));
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        for program in recipe.needs {
            if !programs(program.as_ref(), &path).any(|place| is_program(&place)) {
                let message = format!("the recipe `{name}` needs `{program}`, which is not there");
                return Err(CommandError::usage(message)
                    .hint(format!("install `{program}`, or add it to PATH")));
            }
        }
        Ok(recipe)
    }
}
