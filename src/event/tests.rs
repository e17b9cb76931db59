//! Tests of this module.

use super::*;

#[test]
fn the_enum_and_the_table_share_one_order() {
    for (index, contract) in CONTRACTS.iter().enumerate() {
        assert_eq!(contract.event.index(), index, "{}", contract.event);
        assert_eq!(contract.event.name().parse(), Ok(contract.event));
    }
}

#[test]
fn an_event_that_fails_closed_may_block() {
    for event in Event::all() {
        let contract = event.contract();
        assert!(contract.failure == FailureMode::Open || contract.may_block, "{event}");
    }
}

#[test]
fn a_misspelt_event_names_the_one_meant() {
    let error = "pre_tool_usee".parse::<Event>().unwrap_err();
    assert_eq!(error.to_string(), "unknown event `pre_tool_usee`; did you mean `pre_tool_use`?");
    assert_eq!("zzz".parse::<Event>().unwrap_err().to_string(), "unknown event `zzz`");
}
