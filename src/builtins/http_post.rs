//! `http_post`: tells a web service what happens.

#[cfg(feature = "http")]
mod client;

use super::{Argument, Prepared, Shipped, Surroundings};

pub(super) const HTTP_POST: Shipped = Shipped {
    name: "http_post",
    about: "Posts the event, or a text of yours, to a web service; needs the feature `http`",
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
    details: "It needs hookexec built with the feature `http`; without it, a hook that uses it is an \
              error at load. Addresses of this machine, of private networks, link-local and other special \
              ones are refused, whatever name leads to them; the address that was checked is the one that \
              is connected to. Redirects are not followed and proxies not used. An answer other than 2xx, \
              and one that takes longer than 10 seconds, is a failure of the hook; what it says is not \
              read. Where nobody waits for it, add `background: true`. A static build (`just release`) looks names up in \
              `/etc/hosts` and by DNS alone: no plugins of `nsswitch.conf`, no mDNS (`.local`).",
    example: "session_end:\n  - { type: builtin, command: http_post, args: [\"https://hooks.example.com/agent\"], background: true }",
    suits: |_| true,
    inline: false,
    rewrites: false,
    on_failure: |_| None,
    prepare,
};

#[cfg(not(feature = "http"))]
fn prepare(_: &Surroundings, _: &[String]) -> Result<Prepared, String> {
    Err("this hookexec was built without the feature `http`".to_owned())
}

#[cfg(feature = "http")]
fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    client::prepare(surroundings, args)
}
