//! `add_date`: tells the model which day it is.

use super::{Prepared, Shipped, Surroundings, arguments, gives_context};
use crate::wire::Output;

pub(super) const ADD_DATE: Shipped = Shipped {
    name: "add_date",
    about: "Tells the model today's date",
    arguments: &[],
    details: "The date is the local one: `TZ` counts, else the system's time zone.",
    example: "turn_start:\n  - { type: builtin, command: add_date }",
    suits: gives_context,
    inline: true,
    rewrites: false,
    on_failure: |_| None,
    prepare,
};

fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    arguments::none(args)?;
    let surroundings = surroundings.clone();
    Ok(Box::new(move |_| {
        let today = surroundings.now();
        Ok(Some(Output::context(format!("Today's date: {}", today.strftime("%A, %Y-%m-%d")))))
    }))
}
