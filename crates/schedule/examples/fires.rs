//! Computes fires for queries from stdin, to compare deft with other libraries.
//!
//! One query per line, `ZONE|FROM|TO|EXPR` with instants in seconds since 1970. One line of output per query:
//! the fires later than FROM and not later than TO, in seconds.

use std::error::Error;
use std::io::{self, BufRead, Write};

use deft_schedule::{Schedule, parse_zone};
use jiff::Timestamp;

#[expect(
    clippy::disallowed_methods,
    reason = "a script reads the answers, which are numbers"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", answer(&line?)?)?;
    }
    Ok(())
}

fn answer(question: &str) -> Result<String, Box<dyn Error>> {
    let parts: Vec<&str> = question.splitn(4, '|').collect();
    let [zone, from, to, text] = parts[..] else {
        return Err(format!("not a question: {question}").into());
    };
    let (from, to) = (
        Timestamp::from_second(from.parse()?)?,
        Timestamp::from_second(to.parse()?)?,
    );
    let schedule = Schedule::parse(text, &parse_zone(zone)?, from)?;
    let fires = std::iter::successors(schedule.next_after(from), |fire| schedule.next_after(*fire));
    let fires = fires.take_while(|fire| *fire <= to);
    let fires: Vec<String> = fires.map(|fire| fire.as_second().to_string()).collect();
    Ok(fires.join(" "))
}
