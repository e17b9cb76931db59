//! The directories that the paths in a hooks file count from.

use std::path::{Component, Path, PathBuf};

use crate::directories::{is_repository, project_of};
use crate::files::real;
use crate::handlers::command::expand;
use crate::paths::{lexical, physical};
use crate::platform::{Platform, strip_base};

/// The directories that the paths in a hooks file count from.
#[derive(Debug, Clone)]
pub(crate) struct Bases {
    /// The root of the repository that the hooks file is in; without one, the project's directory.
    pub(super) root: PathBuf,
    /// The directory of the hooks file.
    pub(super) directory: PathBuf,
    /// Where its hooks run.
    pub(super) project: PathBuf,
    pub(super) variables: expand::Variables,
    pub(super) case_counts: bool,
    /// Whether `\` separates the parts of a path.
    pub(super) has_drives: bool,
}

impl Bases {
    /// Returns the bases of the hooks file at `path`, whose hooks run in `project`.
    pub(crate) fn new(path: &Path, project: &Path) -> Self {
        let directory = real(match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        });
        let own = project_of(&directory);
        let repository = own.ancestors().find(|place| is_repository(place));
        let root = repository.unwrap_or(own).to_owned();
        Self {
            root,
            directory,
            project: real(project),
            variables: std::env::vars_os().collect(),
            case_counts: Platform::HERE.case_counts,
            has_drives: Platform::HERE.has_drives,
        }
    }

    /// Returns the first symbolic link on the way from the project to `path`. Follows none: a project
    /// could make that slow.
    pub(super) fn link_to<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let bases = [&self.root, &self.project, &self.directory];
        let above = |place: &Path| bases.iter().any(|base| base.starts_with(place));
        let mut places: Vec<&Path> = path.ancestors().take_while(|place| !above(place)).collect();
        places.reverse();
        places.into_iter().find(|place| place.is_symlink())
    }

    /// Returns whether a file is at `path`, or a link on the way there.
    pub(super) fn is_there(&self, path: &Path) -> bool {
        self.link_to(path).is_some() || path.is_file()
    }

    /// Returns the name of a file of the project: its path from the root, links not followed.
    pub(super) fn name(&self, path: &Path) -> Option<String> {
        let inside = |path: &Path| {
            let mut bases = [&self.root, &self.directory].into_iter();
            let name = bases.find_map(|base| strip_base(path, base, self.case_counts))?;
            // Two names that are not UTF-8 must not become one.
            Some(name.to_str().map_or_else(
                || name.as_os_str().as_encoded_bytes().escape_ascii().to_string(),
                str::to_owned,
            ))
        };
        // A `..` leads up from where the link before it led.
        let parts: Vec<Component<'_>> = path.components().collect();
        let up =
            parts.iter().rposition(|part| *part == Component::ParentDir).map_or(0, |at| at + 1);
        let (resolved, kept) = parts.split_at(up);
        let start = physical(&resolved.iter().collect::<PathBuf>());
        let place = lexical(&start.join(kept.iter().collect::<PathBuf>()));
        inside(&place).or_else(|| inside(&physical(path)))
    }
}
