//! Every file of `tests/configs/warned` is read, with the warnings that stand beside it.

use hookexec::Config;

use super::invalid::{files, snapshots};

#[test]
fn every_warned_file_says_what_is_probably_not_meant() {
    let settings = snapshots("warned");
    for file in files("tests/configs/warned") {
        let config = Config::load_file(&file)
            .unwrap_or_else(|problems| panic!("{}", problems.render(false)));
        assert!(!config.warnings.is_empty(), "{}", file.display());
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        settings.bind(|| insta::assert_snapshot!(name, config.warnings.render(false)));
    }
}
