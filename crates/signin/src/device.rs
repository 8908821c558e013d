//! The flows by a code on another device, as pure machines: what is read, what an answer means, and how long to
//! wait until the next question. Time comes in as an argument.

use std::time::Duration;

use serde_json::Value;
use url::Url;

use crate::address;
use crate::grant::{self, Grant, Refusal};
use crate::secret::Secret;

/// How long to wait between two questions if the issuer does not say, or says that it does not matter.
const USUAL_INTERVAL: u64 = 5;
/// By how much a question too many makes the wait longer.
const SLOW_DOWN: u64 = 5;
/// The longest wait.
const LONGEST_INTERVAL: u64 = 60;
/// How long a code is good if the issuer does not say, in seconds.
const USUAL_LIFE: u64 = 15 * 60;
/// How often in a row the issuer may be away.
const MISSES: u32 = 3;

/// The longest code that is shown to a person.
const LONGEST_USER_CODE: usize = 64;
/// The longest code that is sent back.
const LONGEST_CODE: usize = 4096;

/// What a person is shown, and what we ask with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// What we ask with.
    pub device: Secret,
    /// What the person types.
    pub user: String,
    /// Where it is typed; none if the issuer's own page is meant.
    pub page: Option<Url>,
    /// The same with the code in it.
    pub complete: Option<Url>,
    /// For how many seconds it is good.
    pub lifetime: u64,
    /// How many seconds to wait between two questions.
    pub interval: u64,
}

/// Reads the answer of a device authorization endpoint.
///
/// # Errors
/// In words that do not show the code.
pub fn read_grant_code(body: &[u8]) -> Result<Code, String> {
    let value = object(body)?;
    let page =
        page(&value, "verification_uri").or_else(|why| match value.get("verification_url") {
            Some(_) => page(&value, "verification_url"),
            None => Err(why),
        })?;
    Ok(Code {
        device: hidden(&value, "device_code")?,
        page: Some(page.ok_or("its answer has no verification_uri")?),
        complete: self::page(&value, "verification_uri_complete")?,
        ..code(&value)?
    })
}

/// Reads the answer of the variant.
///
/// # Errors
/// In words that do not show the code.
pub fn read_account_code(body: &[u8]) -> Result<Code, String> {
    let value = object(body)?;
    Ok(Code { device: hidden(&value, "device_auth_id")?, ..code(&value)? })
}

/// What both have.
fn code(value: &Value) -> Result<Code, String> {
    let user = value.get("user_code").or_else(|| value.get("usercode")).and_then(Value::as_str);
    let user = user.map(str::trim).filter(|code| is_typed(code));
    Ok(Code {
        device: Secret::new(""),
        user: user.ok_or("its answer has no user_code that can be typed")?.to_owned(),
        page: None,
        complete: None,
        lifetime: grant::seconds(value, "expires_in").unwrap_or(USUAL_LIFE),
        interval: grant::seconds(value, "interval").unwrap_or(USUAL_INTERVAL),
    })
}

fn object(body: &[u8]) -> Result<Value, String> {
    let value: Value = serde_json::from_slice(body).map_err(|_| "its answer is not JSON")?;
    if value.is_object() { Ok(value) } else { Err("its answer is not an object".to_owned()) }
}

fn is_typed(code: &str) -> bool {
    (1..=LONGEST_USER_CODE).contains(&code.chars().count()) && !code.chars().any(char::is_control)
}

fn hidden(value: &Value, name: &str) -> Result<Secret, String> {
    let text = value.get(name).and_then(Value::as_str);
    let text = text.filter(|text| (1..=LONGEST_CODE).contains(&text.len()));
    text.map(Secret::new).ok_or_else(|| format!("its answer has no {name}"))
}

/// A page for people. It may be on another host: only a person goes there.
fn page(value: &Value, name: &str) -> Result<Option<Url>, String> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(text) => {
            let url = address::secure(text.as_str().unwrap_or_default());
            url.map(Some).map_err(|why| format!("its {name} {why}"))
        }
    }
}

/// What an issuer says to the question whether the code was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// It was.
    Given(T),
    /// Not yet.
    Pending,
    /// Not yet, and this was asked too soon.
    SlowDown,
    /// The person refused.
    Denied,
    /// The code is not good any more.
    Expired,
    /// It is something else, in words.
    Refused(Refusal),
    /// The issuer is not there for the moment, in words.
    Away(String),
    /// It cannot be read.
    Wrong(String),
}

/// A code that the variant gives in place of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountCode {
    /// What becomes tokens.
    pub code: Secret,
    /// What proves that it is ours.
    pub verifier: Secret,
}

/// What a token endpoint means by an answer.
pub fn judge_grant(status: u16, body: &[u8], sent: &[&str]) -> Answer<Grant> {
    if (200..300).contains(&status) {
        return grant::read(body).map_or_else(Answer::Wrong, Answer::Given);
    }
    match grant::refusal(body, sent) {
        Some(refusal) if status < 500 || is_known(&refusal.code) => named(refusal),
        _ => unnamed(status, body, sent),
    }
}

/// What the variant means by an answer: that it knows nothing of the code is not yet.
pub fn judge_account(status: u16, body: &[u8], sent: &[&str]) -> Answer<AccountCode> {
    if (200..300).contains(&status) {
        let read = object(body).and_then(|value| {
            let code = hidden(&value, "authorization_code")?;
            Ok(AccountCode { code, verifier: hidden(&value, "code_verifier")? })
        });
        return read.map_or_else(Answer::Wrong, Answer::Given);
    }
    let refusal = grant::refusal(body, sent);
    match (status, refusal) {
        (_, Some(refusal)) if is_final(&refusal.code) => named(refusal),
        (_, Some(refusal)) if refusal.code == "slow_down" => Answer::SlowDown,
        (403 | 404, _) => Answer::Pending,
        (..500, Some(refusal)) => named(refusal),
        (status, _) => unnamed(status, body, sent),
    }
}

/// Whether an error belongs to this flow, whatever status it comes with.
fn is_known(code: &str) -> bool {
    ["authorization_pending", "slow_down"].contains(&code) || is_final(code)
}

fn is_final(code: &str) -> bool {
    ["access_denied", "expired_token"].contains(&code)
}

fn named<T>(refusal: Refusal) -> Answer<T> {
    match refusal.code.as_str() {
        "authorization_pending" => Answer::Pending,
        "slow_down" => Answer::SlowDown,
        "access_denied" => Answer::Denied,
        "expired_token" => Answer::Expired,
        _ => Answer::Refused(refusal),
    }
}

fn unnamed<T>(status: u16, body: &[u8], sent: &[&str]) -> Answer<T> {
    match status {
        429 => Answer::SlowDown,
        500.. => Answer::Away(format!("it answered {status}")),
        _ => Answer::Wrong(format!("it answered {status}, {}", crate::quote(body, sent))),
    }
}

/// When to ask next. Times are milliseconds since any moment, as long as it is the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Questions {
    interval: u64,
    until: u64,
    misses: u32,
}

/// What follows from an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PollOutcome<T> {
    /// Ask again after a wait.
    Wait,
    /// It is over, well.
    Done(T),
    FlowEnd(FlowEnd),
}

/// Why it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlowEnd {
    /// The person refused.
    Denied,
    /// The code is not good any more.
    Expired,
    /// The issuer refused, in words.
    Refused(String),
    /// The issuer was away for too long, in words.
    Away(String),
    /// The issuer cannot be understood, in words.
    Wrong(String),
}

impl Questions {
    /// For a code that was given now.
    pub fn new(code: &Code, now: u64) -> Self {
        let interval = match code.interval {
            0 => USUAL_INTERVAL,
            seconds => seconds.min(LONGEST_INTERVAL),
        };
        let until = now.saturating_add(code.lifetime.saturating_mul(1000));
        Self { interval, until, misses: 0 }
    }

    /// When the code is not good any more.
    pub fn until(&self) -> u64 {
        self.until
    }

    /// How long to wait before the next question; none if the code will not be good any more.
    pub fn wait(&self, now: u64) -> Option<Duration> {
        let wait = Duration::from_secs(self.interval);
        (now.saturating_add(self.interval * 1000) < self.until).then_some(wait)
    }

    /// Takes an answer.
    pub fn take<T>(&mut self, answer: Answer<T>) -> PollOutcome<T> {
        if !matches!(answer, Answer::Away(_)) {
            self.misses = 0;
        }
        match answer {
            Answer::Given(given) => PollOutcome::Done(given),
            Answer::Pending => PollOutcome::Wait,
            Answer::SlowDown => self.slow_down(),
            Answer::Denied => PollOutcome::FlowEnd(FlowEnd::Denied),
            Answer::Expired => PollOutcome::FlowEnd(FlowEnd::Expired),
            Answer::Refused(refusal) => PollOutcome::FlowEnd(FlowEnd::Refused(refusal.words())),
            Answer::Wrong(why) => PollOutcome::FlowEnd(FlowEnd::Wrong(why)),
            Answer::Away(_) if self.misses < MISSES => {
                self.misses += 1;
                self.slow_down()
            }
            Answer::Away(why) => PollOutcome::FlowEnd(FlowEnd::Away(why)),
        }
    }

    fn slow_down<T>(&mut self) -> PollOutcome<T> {
        self.interval = (self.interval + SLOW_DOWN).min(LONGEST_INTERVAL);
        PollOutcome::Wait
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn code(interval: u64, lifetime: u64) -> Code {
        let body = json!({"device_code": "d", "user_code": "AB-CD", "interval": interval,
            "expires_in": lifetime, "verification_uri": "https://a.example/device"});
        read_grant_code(body.to_string().as_bytes()).unwrap()
    }

    fn seconds(questions: &Questions) -> u64 {
        questions.wait(0).unwrap().as_secs()
    }

    #[test]
    fn an_interval_of_nothing_is_five_seconds_and_slow_down_adds_five_up_to_a_minute() {
        let mut questions = Questions::new(&code(0, 900), 0);
        assert_eq!(seconds(&questions), 5);
        for want in [10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 60] {
            assert_eq!(questions.take(Answer::<()>::SlowDown), PollOutcome::Wait);
            assert_eq!(seconds(&questions), want);
        }
        assert_eq!(seconds(&Questions::new(&code(1, 900), 0)), 1);
        assert_eq!(seconds(&Questions::new(&code(9999, 900), 0)), 60);
    }

    #[test]
    fn a_code_that_expires_before_the_next_question_is_over() {
        let questions = Questions::new(&code(5, 12), 1_000);
        assert!(questions.wait(1_000).is_some() && questions.wait(7_999).is_some());
        assert_eq!(questions.wait(8_000), None);
        assert_eq!(questions.until(), 13_000);
    }

    #[test]
    fn an_issuer_that_is_away_for_a_moment_is_asked_again_and_not_for_ever() {
        let mut questions = Questions::new(&code(5, 900), 0);
        let away = || Answer::<()>::Away("502".into());
        for _ in 0..MISSES {
            assert_eq!(questions.take(away()), PollOutcome::Wait);
        }
        assert_eq!(questions.take(Answer::<()>::Pending), PollOutcome::Wait);
        for _ in 0..MISSES {
            assert_eq!(questions.take(away()), PollOutcome::Wait);
        }
        assert_eq!(questions.take(away()), PollOutcome::FlowEnd(FlowEnd::Away("502".into())));
    }

    #[test]
    fn answers_mean_what_the_grant_says() {
        let judge = |status, body: &str| judge_grant(status, body.as_bytes(), &["d-secret"]);
        let error = |name: &str| format!(r#"{{"error":"{name}"}}"#);
        assert_eq!(judge(400, &error("authorization_pending")), Answer::Pending);
        assert_eq!(judge(400, &error("slow_down")), Answer::SlowDown);
        assert_eq!(judge(429, "later"), Answer::SlowDown);
        assert_eq!(judge(403, &error("access_denied")), Answer::Denied);
        assert_eq!(judge(400, &error("expired_token")), Answer::Expired);
        assert!(matches!(judge(400, &error("invalid_grant")), Answer::Refused(_)));
        assert_eq!(judge(502, "<html>"), Answer::Away("it answered 502".into()));
        assert_eq!(judge(500, &error("server_error")), Answer::Away("it answered 500".into()));
        assert_eq!(judge(500, &error("slow_down")), Answer::SlowDown);
        let wrong = judge(404, "no d-secret here");
        assert_eq!(wrong, Answer::Wrong("it answered 404, no *** here".into()));
        assert!(matches!(judge(200, r#"{"access_token":"a"}"#), Answer::Given(_)));
        assert!(matches!(judge(200, "{}"), Answer::Wrong(_)));
    }

    #[test]
    fn the_variant_says_not_yet_by_its_status() {
        let judge = |status, body: &str| judge_account(status, body.as_bytes(), &[]);
        assert_eq!(judge(403, ""), Answer::Pending);
        assert_eq!(judge(404, r#"{"error":"unknown"}"#), Answer::Pending);
        assert_eq!(judge(403, r#"{"error":{"code":"access_denied"}}"#), Answer::Denied);
        let given =
            judge(200, r#"{"authorization_code":"c","code_verifier":"v","code_challenge":"x"}"#);
        let want = AccountCode { code: Secret::new("c"), verifier: Secret::new("v") };
        assert_eq!(given, Answer::Given(want));
        assert!(matches!(judge(200, r#"{"authorization_code":"c"}"#), Answer::Wrong(_)));
        assert!(matches!(judge(401, ""), Answer::Wrong(_)));
    }

    #[test]
    fn a_code_has_a_page_that_a_person_may_be_sent_to() {
        let read = |page: &str| {
            let body = json!({"device_code": "d", "user_code": "AB", "verification_uri": page});
            read_grant_code(body.to_string().as_bytes())
        };
        let usual = read("https://pages.example/d").unwrap();
        assert_eq!((usual.interval, usual.lifetime), (5, 900));
        assert!(read("http://pages.example/d").is_err() && read("javascript:x").is_err());
        let variant = br#"{"device_auth_id":"d","user_code":" AB-12 ","interval":"7"}"#;
        let variant = read_account_code(variant).unwrap();
        assert_eq!((variant.user.as_str(), variant.interval), ("AB-12", 7));
        for bad in [
            r#"{"device_auth_id":"d"}"#,
            r#"{"user_code":"AB"}"#,
            "[]",
            "x",
            r#"{"device_auth_id":"d","user_code":"A\u001b[2J"}"#,
        ] {
            assert!(read_account_code(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn waits_stay_within_their_bounds(answers in proptest::collection::vec(0..3u8, 0..50), interval: u64) {
            let mut questions = Questions::new(&code(interval, 900), 0);
            for answer in answers {
                let answer = match answer {
                    0 => Answer::<()>::Pending,
                    1 => Answer::SlowDown,
                    _ => Answer::Away(String::new()),
                };
                let _ = questions.take(answer);
                let wait = questions.wait(0).unwrap().as_secs();
                prop_assert!((1..=LONGEST_INTERVAL).contains(&wait));
            }
        }
    }
}
