//! `hookexec docs schema`: the JSON schemas.

use crate::testing;
use hookexec::schema;

use crate::{CommandError, output};

/// Prints the JSON schema (draft 7) of hooks.yaml, of test cases, of a hook's input and answer
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec docs schema config > hooks.schema.json")]
pub(crate) struct Args {
    /// The document
    #[arg(value_enum, default_value_t = Of::Config)]
    of: Of,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Of {
    /// The hooks file
    Config,
    /// A file of test cases
    Cases,
    /// What a hook reads on stdin, and `hookexec run` too
    Input,
    /// What a hook answers on stdout
    Output,
    /// What `hookexec run` answers
    Verdict,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        output::print_json(&match self.of {
            Of::Config => schema::config(&hookexec::Registry::new()),
            Of::Cases => testing::cases_schema(),
            Of::Input => schema::input(),
            Of::Output => schema::output(),
            Of::Verdict => schema::verdict(),
        })
    }
}
