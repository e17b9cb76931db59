//! `hookexec docs schema`: the JSON schemas.

use hookexec::schema;
use hookexec_workbench::testing;

use crate::CommandError;
use crate::console::output;

/// Prints the JSON schema (draft 7) of hooks.yaml, of test cases, of a hook's input and answer
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec docs schema config > hooks.schema.json")]
pub(crate) struct Args {
    /// The document
    #[arg(value_enum, default_value_t = Document::Config)]
    document: Document,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Document {
    /// The hooks file
    Config,
    /// A file of test cases
    Cases,
    /// The input that a hook reads on stdin, and `hookexec run` too
    Input,
    /// The answer of a hook on stdout
    Output,
    /// The answer of `hookexec run`
    Verdict,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        output::print_json(&match self.document {
            Document::Config => schema::config(&crate::registry::all()),
            Document::Cases => testing::cases_schema(),
            Document::Input => schema::input(),
            Document::Output => schema::output(),
            Document::Verdict => schema::verdict(),
        })
    }
}
