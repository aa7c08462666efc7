//! The delay that a server asks for. Headers are passed as text, so that any type of headers will do.

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;

/// Returns the delay that a server asks for: `retry-after-ms`, or `Retry-After` in seconds or as a date. A
/// date is compared with the server's own, so that clock differences do not matter.
pub fn retry_after<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok()?;
        Duration::try_from_secs_f64(number).ok()
    };
    if let Some(exact) = header("retry-after-ms").and_then(number) {
        return Some(exact / 1000);
    }
    let text = header("retry-after")?;
    if let Some(seconds) = number(text) {
        return Some(seconds);
    }
    let parser = DateTimeParser::new();
    let date = |text: &str| parser.parse_timestamp(text.trim()).ok();
    let (then, now) = (date(text)?, date(header("date")?)?);
    let seconds = then.duration_since(now).as_secs();
    // A date in the past asks for no delay.
    Some(Duration::from_secs(
        u64::try_from(seconds).unwrap_or_default(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[(&str, &'static str)]) -> Option<Duration> {
        retry_after(|name| {
            headers
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| *value)
        })
    }

    #[test]
    fn three_forms_of_retry_after_are_read() {
        let date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
        let soon = ("retry-after", "Wed, 21 Oct 2026 07:29:30 GMT");
        let past = ("retry-after", "Wed, 21 Oct 2026 07:00:00 GMT");
        let seconds = Duration::from_secs;
        assert_eq!(read(&[("retry-after", " 7 ")]), Some(seconds(7)));
        assert_eq!(
            read(&[("retry-after", "0.25")]),
            Some(Duration::from_millis(250))
        );
        assert_eq!(
            read(&[("retry-after", "7"), ("retry-after-ms", "40")]),
            Some(Duration::from_millis(40))
        );
        assert_eq!(read(&[soon, date]), Some(seconds(90)));
        assert_eq!(read(&[past, date]), Some(seconds(0)));
        assert_eq!(read(&[soon]), None);
        assert_eq!(read(&[("retry-after", "-1")]), None);
        assert_eq!(read(&[("retry-after", "soon")]), None);
        assert_eq!(read(&[]), None);
    }
}
