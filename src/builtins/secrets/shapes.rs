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
    shape("github-token", r"gh[oprsu]_[A-Za-z0-9_]{30,}"),
    shape("github-token", r"github_pat_[A-Za-z0-9_]{40,}"),
    shape(
        "gitlab-token",
        r"gl(?:pat|dt|rt|ptt|ft|soat|cbt|oas|agent|imt)-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9]{2}\.[A-Za-z0-9]{7,})?",
    ),
    mixed("api-key", r"(?:\b|_)(?P<secret>sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,})"),
    mixed("api-key", r"(?:\b|_)(?P<secret>sk-[A-Za-z0-9]{32,})"),
    mixed("api-key", r"\b(?:gsk_|xai-|pplx-|sbp_|fw_|r8_)[A-Za-z0-9]{36,}"),
    mixed("slack-token", r"xox[abcdeprs]-[A-Za-z0-9.-]{12,}"),
    mixed("slack-token", r"xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    mixed(
        "webhook",
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_+/-]{20,}",
    ),
    mixed(
        "webhook",
        r"https://(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{40,}",
    ),
    shape("aws-key", r"(?:\b|_|[a-z])(?P<secret>(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b"),
    shape("google-key", r"AIza[A-Za-z0-9_-]{35}"),
    mixed("google-token", r"ya29\.[A-Za-z0-9_-]{20,}"),
    mixed("google-secret", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    shape("jwt", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
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
    shape("npm-token", r"npm_[A-Za-z0-9]{36}\b"),
    shape("pypi-token", r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    shape("rubygems-key", r"rubygems_[a-f0-9]{48}\b"),
    shape("docker-token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}"),
    shape("huggingface-token", r"(?:\b|_|[a-z])(?P<secret>hf_[A-Za-z0-9]{34})\b"),
    mixed("stripe-key", r"[rs]k_(?:live|test)_[A-Za-z0-9]{20,}"),
    mixed("stripe-secret", r"whsec_[A-Za-z0-9+/=]{32,}"),
    shape("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    shape("digitalocean-token", r"do[opr]_v1_[a-f0-9]{64}\b"),
    shape("shopify-token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    shape("telegram-token", r"(?:\b|bot)(?P<secret>[0-9]{8,10}:AA[A-Za-z0-9_-]{33})"),
    mixed("vault-token", r"\bhv[bs]\.[A-Za-z0-9_-]{24,}"),
    shape("age-key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    mixed("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    mixed("notion-token", r"ntn_[A-Za-z0-9]{40,}"),
    mixed("telemetry-key", r"\b(?:NRAK-[A-Z0-9]{27}|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8})"),
    mixed("google-token", r"\b1//0[A-Za-z0-9_-]{30,}"),
    mixed("azure-secret", r"(?:\b|_)(?P<secret>[A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{31,34})"),
    mixed("azure-token", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    mixed("azure-signature", r"[?&;]sig=(?P<secret>[A-Za-z0-9%+/]{40,}(?:%3[dD]|=))"),
    mixed("twilio-key", r"\bSK[0-9a-f]{32}\b"),
    mixed("mailgun-key", r"\bkey-[0-9a-f]{32}\b"),
    mixed("mailchimp-key", r"\b[0-9a-f]{32}-us[0-9]{1,2}\b"),
    mixed("registry-token", r"\b(?:cio[A-Za-z0-9]{32}|oy2[a-z0-9]{43})\b"),
    mixed("heroku-key", r"HRKU-[A-Za-z0-9_-]{36,}"),
    mixed("notion-token", r"\bsecret_[A-Za-z0-9]{43}\b"),
    mixed("figma-token", r"figd_[A-Za-z0-9_-]{36,}"),
    mixed("airtable-token", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b"),
    mixed("asana-token", r"\b[0-9]/[0-9]{10,}:[a-f0-9]{32}\b"),
    mixed("atlassian-token", r"ATATT3[A-Za-z0-9_=-]{60,}"),
    mixed("databricks-token", r"dapi[a-f0-9]{32}\b"),
    mixed("doppler-token", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}"),
    mixed("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    mixed("pulumi-token", r"pul-[a-f0-9]{40}\b"),
    mixed("sentry-token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    mixed("square-token", r"\bEAAA[A-Za-z0-9_-]{60}\b"),
    mixed("square-token", r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}"),
    mixed("braintree-token", r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}"),
    mixed("supabase-key", r"sb_secret_[A-Za-z0-9_-]{20,}"),
    mixed("planetscale-token", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}"),
    mixed("fly-token", r"(?:\bfo1_[A-Za-z0-9_-]{43}|\bfm[12][ar]?_[A-Za-z0-9+/=,_-]{40,})"),
    mixed("cloudflare-key", r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,}"),
    mixed("tailscale-key", r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}"),
    mixed("onepassword-token", r"ops_eyJ[A-Za-z0-9_-]{60,}={0,2}"),
    mixed("webhook", r"https://[a-z0-9-]+\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{40,}"),
    mixed("aws-key", r"\bABSK[A-Za-z0-9+/]{100,}={0,2}"),
    mixed("private-key", r"Private-Lines: [0-9]+\s+(?P<secret>(?:[A-Za-z0-9+/=]{16,}\s*)+)"),
    Shape {
        kind: "password-hash",
        pattern: r"\$2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}",
        accept: |_| true,
    },
    Shape {
        kind: "password-hash",
        pattern: r"\$(?:apr1|1|5|6|y|7)\$[./A-Za-z0-9$=,]{24,}",
        accept: |_| true,
    },
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
