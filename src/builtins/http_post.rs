//! `http_post`: tells a web service what happens.

#[cfg(feature = "http")]
mod post;

use super::{Argument, Shipped, Surroundings, Work};

pub(super) const HTTP_POST: Shipped = Shipped {
    name: "http_post",
    about: "Posts the event, or a text of yours, to a web service",
    arguments: &[
        Argument {
            usage: "URL",
            optional: false,
            about: "Where to: `https://...` or `http://...`.",
        },
        Argument {
            usage: "BODY",
            optional: true,
            about: "What to post; when left out, the event's input as JSON, without secrets.",
        },
        Argument {
            usage: "--header=NAME:VALUE",
            optional: true,
            about: "A header; several can be given. `$NAME` or `${NAME}` as the whole value, or after \
                    a blank, stands for a variable of the environment.",
        },
        Argument {
            usage: "--allow-private",
            optional: true,
            about: "Also posts to this machine and to private networks.",
        },
    ],
    details: include_str!("details/http_post.md"),
    example: "session_end:\n  - { type: builtin, command: http_post, args: [\"https://hooks.example.com/agent\"], background: true }",
    suits: |_| true,
    prepare,
    ..Shipped::ACTS
};

#[cfg(not(feature = "http"))]
fn prepare(_: &Surroundings, _: &[String]) -> Result<Work, String> {
    Err("this hookexec was built without the feature `http`".to_owned())
}

#[cfg(feature = "http")]
fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Work, String> {
    post::prepare(surroundings, args)
}
