//! `add_user_info`: tells the model whose machine it works on.

use super::{Prepared, Shipped, Surroundings, arguments, gives_context, text};
use crate::wire::Output;

pub(super) const ADD_USER_INFO: Shipped = Shipped {
    name: "add_user_info",
    about: "Tells the model the user's name and the host's",
    arguments: &[],
    details: "The user is `USER`, else `LOGNAME`, else the number of the account.",
    example: "session_start:\n  - { type: builtin, command: add_user_info }",
    suits: gives_context,
    inline: true,
    rewrites: false,
    on_failure: |_| None,
    prepare,
};

fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    arguments::none(args)?;
    let user = ["USER", "LOGNAME"].iter().find_map(|name| surroundings.var(name)).map_or_else(
        || rustix::process::getuid().as_raw().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    let user = text::one_line(&user);
    Ok(Box::new(move |_| {
        let system = rustix::system::uname();
        let host = text::one_line(&system.nodename().to_string_lossy());
        Ok(Some(Output::context(format!("User: {user}\nHost: {host}"))))
    }))
}
