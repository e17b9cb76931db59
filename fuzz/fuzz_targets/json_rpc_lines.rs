#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hookexec_fuzz::json_rpc_lines(bytes));
