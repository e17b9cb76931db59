//! Tokens that can be told by their look.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet};

use super::Finding;

/// The shape of one kind of token.
struct Shape {
    kind: &'static str,
    /// The group `secret` is what goes; the whole match when there is none.
    pattern: &'static str,
    /// What a match must be beside.
    accept: fn(&str) -> bool,
}

const fn shape(kind: &'static str, pattern: &'static str) -> Shape {
    Shape { kind, pattern, accept: is_no_placeholder }
}

const fn mixed(kind: &'static str, pattern: &'static str) -> Shape {
    Shape { kind, pattern, accept: is_mixed }
}

static SHAPES: &[Shape] = &[
    shape("github-token", r"\bgh[oprsu]_[A-Za-z0-9_]{30,}"),
    shape("github-token", r"\bgithub_pat_[A-Za-z0-9_]{40,}"),
    shape("gitlab-token", r"\bgl(?:pat|dt|rt|ptt|ft|soat|cbt|oas|agent|imt)-[A-Za-z0-9_-]{20,}"),
    mixed("api-key", r"\bsk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,}"),
    mixed("api-key", r"\bsk-[A-Za-z0-9]{32,}"),
    mixed("api-key", r"\b(?:gsk_|xai-|pplx-|sbp_|fw_|r8_)[A-Za-z0-9]{36,}"),
    mixed("slack-token", r"\bxox[abcdeprs]-[A-Za-z0-9.-]{12,}"),
    mixed("slack-token", r"\bxapp-[0-9]-[A-Za-z0-9-]{20,}"),
    mixed(
        "webhook",
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_+/-]{20,}",
    ),
    mixed(
        "webhook",
        r"https://(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{40,}",
    ),
    shape("aws-key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    shape("google-key", r"\bAIza[A-Za-z0-9_-]{35}"),
    mixed("google-token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    mixed("google-secret", r"\bGOCSPX-[A-Za-z0-9_-]{28}"),
    shape("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    shape(
        "private-key",
        concat!(
            r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
            r"(?:(?:\s|\\r|\\n)+(?:[A-Za-z-]+: [^\n\\]*|[A-Za-z0-9+/=]+))*",
            r"(?:\s|\\r|\\n)+[A-Za-z0-9+/=]{30,}",
            r"(?:(?:\s|\\r|\\n)+[A-Za-z0-9+/=]+)*",
            r"(?:(?:\s|\\r|\\n)*-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----)?",
        ),
    ),
    // The same in base64, as Kubernetes writes it.
    shape(
        "private-key",
        concat!(
            r"\bLS0tLS1CRUdJTiB(?:QUklWQVRFIEtFWS|SU0EgUFJJVkFURSBLRVkt|FQyBQUklWQVRFIEtFWS",
            r"|PUEVOU1NIIFBSSVZBVEUgS0VZ|FTkNSWVBURUQgUFJJVkFURSBLRVkt)[A-Za-z0-9+/=]*",
        ),
    ),
    shape("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    shape("pypi-token", r"\bpypi-AgE[A-Za-z0-9_-]{40,}"),
    shape("rubygems-key", r"\brubygems_[a-f0-9]{48}\b"),
    shape("docker-token", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}"),
    shape("huggingface-token", r"\bhf_[A-Za-z0-9]{34}\b"),
    mixed("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,}"),
    mixed("stripe-secret", r"\bwhsec_[A-Za-z0-9+/=]{32,}"),
    shape("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    shape("digitalocean-token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    shape("shopify-token", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    shape("telegram-token", r"(?:\b|bot)(?P<secret>[0-9]{8,10}:AA[A-Za-z0-9_-]{33})"),
    mixed("vault-token", r"\bhv[bs]\.[A-Za-z0-9_-]{24,}"),
    shape("age-key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}"),
    mixed("linear-key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    mixed("notion-token", r"\bntn_[A-Za-z0-9]{40,}"),
    mixed("telemetry-key", r"\b(?:NRAK-[A-Z0-9]{27}|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8})"),
    shape(
        "url-password",
        r#"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@'"<>`]*:(?P<secret>[^\s'"<>`]{3,})@[A-Za-z0-9\[]"#,
    ),
    mixed("url-token", r"\bhttps?://(?P<secret>[A-Za-z0-9_.-]{20,})@[A-Za-z0-9\[]"),
    Shape {
        kind: "authorization",
        pattern: r#"(?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:bearer|basic|token|apikey)\s+(?P<secret>[A-Za-z0-9_.~+/=-]{8,})"#,
        accept: |secret| is_no_placeholder(secret) && has_digit_or_padding(secret),
    },
    mixed("authorization", r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9_.~+/=-]{20,})"),
    mixed("cookie", r#"(?i)\bcookie["']?\s*:\s*["']?(?P<secret>[^\s="']+=[^\r\n"']{8,})"#),
    mixed("authorization", r#""auth"\s*:\s*"(?P<secret>[A-Za-z0-9+/=]{12,})""#),
    shape("password", r#"\s(?:-u|--user)[ =]["']?[^\s:'"$]+:(?P<secret>[^\s'"]{6,})"#),
    shape("password", r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<secret>\S+)"),
];

/// Appends every token of `text` that has a known shape.
pub(super) fn find(text: &str, findings: &mut Vec<Finding>) {
    static SET: LazyLock<Option<RegexSet>> =
        LazyLock::new(|| RegexSet::new(SHAPES.iter().map(|shape| ascii(shape.pattern))).ok());
    static REGEXES: [OnceLock<Option<Regex>>; SHAPES.len()] =
        [const { OnceLock::new() }; SHAPES.len()];
    // Every pattern compiles; a test proves it. Should the set not, each pattern is tried.
    let hits: Vec<usize> = match &*SET {
        Some(set) => set.matches(text).into_iter().collect(),
        None => (0..SHAPES.len()).collect(),
    };
    for index in hits {
        let shape = &SHAPES[index];
        let regex = REGEXES[index].get_or_init(|| Regex::new(&ascii(shape.pattern)).ok());
        let Some(regex) = regex else { continue };
        for captures in regex.captures_iter(text) {
            let whole = captures.get(0);
            if let Some(secret) = captures.name("secret").or(whole)
                && (shape.accept)(secret.as_str())
            {
                findings.push(Finding { range: secret.range(), kind: Cow::Borrowed(shape.kind) });
            }
        }
    }
}

/// Returns the pattern with word boundaries in ASCII: Unicode's take most of the time to compile.
fn ascii(pattern: &str) -> String {
    pattern.replace(r"\b", r"(?-u:\b)")
}

/// Returns whether `secret` is a value and not something that stands for one.
pub(super) fn is_no_placeholder(secret: &str) -> bool {
    const STANDS_FOR_ONE: [char; 6] = ['$', '<', '{', '%', '[', '('];
    let body = secret.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
    let body = body.trim_start_matches(['_', '-']);
    let repeated = |text: &str| {
        let mut letters = text.chars();
        letters.next().is_none_or(|first| letters.all(|letter| letter == first))
    };
    !secret.starts_with(STANDS_FOR_ONE)
        && !secret.starts_with("\\(")
        && !secret.contains(super::MARKER)
        && !repeated(secret)
        && (body.is_empty() || !repeated(body) || body.len() < 8)
}

/// Returns whether `secret` has letters and digits, as random tokens do and words do not.
fn is_mixed(secret: &str) -> bool {
    is_no_placeholder(secret)
        && secret.bytes().any(|byte| byte.is_ascii_digit())
        && secret.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn has_digit_or_padding(secret: &str) -> bool {
    secret.ends_with('=') || secret.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for shape in SHAPES {
            assert!(Regex::new(&ascii(shape.pattern)).is_ok(), "{}", shape.pattern);
        }
        assert!(RegexSet::new(SHAPES.iter().map(|shape| ascii(shape.pattern))).is_ok());
    }
}
