//! Runs the test cases of a policy.

use std::fs;
use std::path::{Path, PathBuf};

use hookexec::Executor;
use hookexec_project::policy::{Archive, PolicyFailure, load, unpack};

use crate::commands::test::{Results, run_cases};
use crate::error::{CommandError, OrCommandError as _, unwritable};
use crate::registry;

/// Unpacks a policy below `scratch`, loads its hooks and runs its test cases. The hooks run in an empty
/// directory, as they will run in any project.
pub(super) fn test(archive: &Archive, scratch: &Path) -> Result<Results, CommandError> {
    let (policy, project) = (scratch.join("policy"), scratch.join("project"));
    fs::create_dir_all(&project).or_usage(unwritable(&project))?;
    unpack(archive, &policy)?;
    let executor = Executor::builder(load(archive, &policy)?);
    let executor = executor.registry(registry::all()).working_dir(&project);
    executor.build()?;
    let cases = archive.test_files();
    let cases: Vec<PathBuf> = cases.into_iter().map(|name| policy.join(name)).collect();
    run_cases(&cases, None, Some(&project))
}

/// Tests a policy before it is put in force.
pub(super) fn passes(archive: &Archive, scratch: &Path) -> Result<(), PolicyFailure> {
    let results = match test(archive, scratch) {
        Ok(results) => results,
        Err(error) => return Err(PolicyFailure::Refused(error.to_string())),
    };
    for case in results.files.iter().flat_map(|file| &file.cases) {
        if !case.passed {
            let (name, failed) = (&case.name, results.failed);
            let problem = format!("its test case `{name}` fails here ({failed} in all)");
            return Err(PolicyFailure::Refused(problem));
        }
    }
    Ok(())
}
