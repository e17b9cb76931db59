//! The hooks that `hookexec init NAME` adds: recipes, and single rules of the user's starter.

/// Hooks with a name, as the text of a hooks file.
pub(crate) struct Recipe {
    pub(crate) name: &'static str,
    pub(super) text: String,
}

macro_rules! recipes {
    ($($name:literal)+) => {
        [$(($name, include_str!(concat!("../../../../../examples/recipes/", $name, ".yaml")))),+]
    };
}

const RECIPES: [(&str, &str); 16] = recipes! {
    "approve" "budget" "commit-message" "databases" "everyday" "force-push" "format" "keep-secrets"
    "log" "main-branch" "mcp-allow-list" "notify" "read-only" "subagents" "team" "tests-before-stop"
};

/// Returns all recipes, and the rules of the starter whose names no recipe has.
pub(crate) fn all() -> Vec<Recipe> {
    let mut all = Vec::new();
    for (name, text) in RECIPES {
        all.push(Recipe { name, text: text.to_owned() });
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
            all.push(Recipe { name, text });
        }
    }
    all
}

/// Returns the names of all.
pub(super) fn names() -> Vec<&'static str> {
    all().iter().map(|recipe| recipe.name).collect()
}

impl Recipe {
    /// Returns the recipe `name`.
    pub(super) fn named(name: &str) -> Option<Self> {
        all().into_iter().find(|recipe| recipe.name == name)
    }
}
