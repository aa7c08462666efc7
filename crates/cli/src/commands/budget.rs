//! `deft budget`: what was used today, the limits, and agents that were paused.

mod advice;

use std::process::ExitCode;

use deft_model::Usd;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::args::{Budget, BudgetSet, Global};
use crate::failure::Done;
use crate::output::{Output, counted, table};
use deft_config::config_file;
use deft_config::{Allowance, BudgetConfig, Editor, kind_of, read_value};
use deft_service::app::App;
use deft_service::talk::{self, Paused, Spending, Spent, Talk, dollars};

pub(crate) use advice::unpriced;

pub(crate) fn run(command: &Budget, global: &Global, output: &Output) -> Done {
    match command {
        Budget::Set(args) => set(args, global, output),
        Budget::Show => {
            let home = global.workspace().home()?;
            let app = App::to_read(&global.workspace())?;
            let spending = app.block_on(talk::host(&app).spending());
            let zone = app.zone.clone();
            app.close();
            show(&spending?, &home.config.budget, &zone, output)
        }
        Budget::Resume { agent } => {
            let app = App::without_skills(&global.workspace())?;
            let done = app.block_on(resume(&*talk::host(&app), agent, output));
            app.close();
            done
        }
    }
}

async fn resume(talk: &dyn Talk, agent: &str, output: &Output) -> Done {
    let was_paused = talk.resume_agent(agent).await?;
    if output.json {
        output.document(&json!({"ok": true, "agent": agent, "was_paused": was_paused}))?;
    } else if was_paused {
        output.data(format!("`{agent}` goes on"))?;
    } else {
        output.data(format!("`{agent}` was not paused"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A scope with its limits: everything, an agent, or whatever else the ledger knows.
struct Row<'a> {
    name: String,
    spent: Spent,
    limits: Option<&'a Allowance>,
}

/// Scopes with limits first, also those in which nothing was used yet.
fn rows<'a>(spending: &Spending, budget: &'a BudgetConfig) -> Vec<Row<'a>> {
    let agents = budget.agents.iter();
    let agents = agents.map(|(name, watch)| (format!("agent:{name}"), Some(&watch.limits)));
    let limited: Vec<_> = std::iter::once(("all".to_owned(), Some(&budget.all)))
        .chain(agents)
        .collect();
    let others = spending.rows.iter().map(|row| (row.scope.clone(), None));
    let others = others.filter(|(name, _)| limited.iter().all(|(known, _)| known != name));
    let scopes = limited.iter().cloned().chain(others);
    let row = |(name, limits): (String, _)| {
        let spent = spending.rows.iter().find(|row| row.scope == name);
        let spent = spent.cloned().unwrap_or_default();
        Row {
            name,
            spent,
            limits,
        }
    };
    scopes.map(row).collect()
}

fn show(spending: &Spending, budget: &BudgetConfig, zone: &TimeZone, output: &Output) -> Done {
    let rows = rows(spending, budget);
    if output.json {
        let paused: Vec<Value> = spending.paused.iter().map(pause).collect();
        let scopes: Vec<Value> = rows.iter().map(document).collect();
        output.document(&json!({"day": spending.day, "scopes": scopes, "paused": paused}))?;
        return Ok(ExitCode::SUCCESS);
    }
    output.data(shown(&rows, output.width()))?;
    for paused in &spending.paused {
        output.data(words(paused, zone))?;
        output.note(&format!("hint: {}", remedy(paused)));
    }
    if let Some(all) = rows.iter().find(|row| row.name == "all")
        && all.spent.estimated_calls > 0
    {
        let calls = usize::try_from(all.spent.estimated_calls).unwrap_or(usize::MAX);
        output.note(&format!(
            "a crash interrupted {}; {} tokens are an estimate",
            counted(calls, "call"),
            all.spent.estimated_tokens
        ));
    }
    if !spending.day.is_empty() {
        output.note(&format!("on {}", spending.day));
    }
    Ok(ExitCode::SUCCESS)
}

/// An agent that is paused, for programs.
fn pause(paused: &Paused) -> Value {
    json!({
        "agent": paused.agent,
        "since": paused.since.to_string(),
        "reason": paused.reason,
        "until": if paused.lifts_itself { "limit" } else { "resume" },
    })
}

/// The same for people.
fn words(paused: &Paused, zone: &TimeZone) -> String {
    let Paused {
        agent,
        since,
        reason,
        lifts_itself,
    } = paused;
    let until = if *lifts_itself {
        "until its limit allows it to go on"
    } else {
        "until somebody lets it go on"
    };
    let since = deft_schedule::show(*since, zone);
    format!("`{agent}` is paused since {since}, {until}: {reason}")
}

fn remedy(paused: &Paused) -> String {
    let agent = &paused.agent;
    if paused.lifts_itself {
        "it goes on by itself on the next day, and before that with a higher limit: \
         `deft budget set`"
            .to_owned()
    } else {
        format!("`deft budget resume {agent}` lets it go on")
    }
}

fn shown(rows: &[Row<'_>], width: Option<usize>) -> String {
    let heads = ["scope", "calls", "tokens", "limit", "cost", "limit", "held"];
    let mut lines = vec![heads.map(str::to_owned).to_vec()];
    for row in rows {
        let spent = &row.spent;
        let limits = row.limits;
        let tokens = limits.and_then(|limits| limits.tokens_per_day);
        let money = limits.and_then(|limits| limits.usd_per_day);
        lines.push(vec![
            row.name.clone(),
            spent.calls.to_string(),
            (spent.tokens_in + spent.tokens_out).to_string(),
            tokens.map_or("-".to_owned(), |most| most.to_string()),
            dollars(Usd::from_micros(spent.micros)),
            money.map_or("-".to_owned(), |most| dollars(Usd::from_dollars(most))),
            held(spent),
        ]);
    }
    table(&lines, width)
}

/// What calls that are under way may still use.
fn held(spent: &Spent) -> String {
    match (spent.reserved_tokens, spent.reserved_micros) {
        (0, 0) => "-".to_owned(),
        (tokens, 0) => format!("{tokens} tokens"),
        (tokens, micros) => format!("{tokens} tokens, {}", dollars(Usd::from_micros(micros))),
    }
}

fn document(row: &Row<'_>) -> Value {
    let spent = &row.spent;
    json!({
        "scope": row.name,
        "calls": spent.calls,
        "estimated_calls": spent.estimated_calls,
        "estimated_tokens": spent.estimated_tokens,
        "input_tokens": spent.tokens_in,
        "output_tokens": spent.tokens_out,
        "cost_usd": Usd::from_micros(spent.micros),
        "reserved_tokens": spent.reserved_tokens,
        "reserved_usd": Usd::from_micros(spent.reserved_micros),
        "limit_tokens": row.limits.and_then(|limits| limits.tokens_per_day),
        "limit_usd": row.limits.and_then(|limits| limits.usd_per_day),
        "on_exhausted": row.limits.map(|limits| limits.on_exhausted),
    })
}

fn set(args: &BudgetSet, global: &Global, output: &Output) -> Done {
    let home = global.workspace().locate()?;
    let mut editor = Editor::open(&home)?;
    let mut settings = serde_json::Map::new();
    for (key, given) in [
        ("tokens_per_day", &args.tokens_per_day),
        ("usd_per_day", &args.usd_per_day),
        ("on_exhausted", &args.on_exhausted),
        ("spike_tokens", &args.spike_tokens),
        ("spike_factor", &args.spike_factor),
    ] {
        let Some(given) = given else { continue };
        let path = path(args.agent.as_deref(), key);
        let name = deft_config::shown(&path);
        if given == "none" {
            editor.unset(&path);
            settings.insert(name, Value::Null);
        } else {
            let value = read_value(given, kind_of(&path));
            editor.set(&path, &value)?;
            settings.insert(name, value);
        }
    }
    let changed = editor.save()?;
    let file = config_file(&home);
    if output.json {
        output.document(&json!({
            "ok": true, "changed": changed, "path": file.display().to_string(), "settings": settings,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    for (name, value) in &settings {
        match value {
            Value::Null => output.data(format!("`{name}` has no limit now"))?,
            value => output.data(format!("set: {name} = {}", deft_config::literal(value)))?,
        }
    }
    output.note(&format!("written to {}", file.display()));
    if settings.values().any(|value| !value.is_null()) {
        advice::give(args.agent.as_deref(), global, output);
    }
    Ok(ExitCode::SUCCESS)
}

fn path(agent: Option<&str>, key: &str) -> Vec<String> {
    let above = match agent {
        Some(agent) => vec!["budget", "agents", agent],
        None => vec!["budget"],
    };
    above.into_iter().chain([key]).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::talk_fake::fake::Fake;
    use deft_model::Exhausted;

    /// Who waits for a limit and who waits for a person.
    #[test]
    fn a_pause_says_what_ends_it() {
        let since = jiff::Timestamp::UNIX_EPOCH;
        let paused = |lifts_itself| Paused {
            agent: "scout".to_owned(),
            since,
            reason: "too much".to_owned(),
            lifts_itself,
        };
        let said = [true, false].map(|lifts_itself| {
            let paused = paused(lifts_itself);
            (
                words(&paused, &TimeZone::UTC),
                remedy(&paused),
                pause(&paused),
            )
        });
        let begun = "`scout` is paused since 1970-01-01T00:00:00+00:00";
        let document = |until: &str| {
            json!({"agent": "scout", "since": "1970-01-01T00:00:00Z", "reason": "too much",
                "until": until})
        };
        let expected = [
            (
                format!("{begun}, until its limit allows it to go on: too much"),
                "it goes on by itself on the next day, and before that with a higher limit: \
                 `deft budget set`"
                    .to_owned(),
                document("limit"),
            ),
            (
                format!("{begun}, until somebody lets it go on: too much"),
                "`deft budget resume scout` lets it go on".to_owned(),
                document("resume"),
            ),
        ];
        assert_eq!(said, expected);
    }

    #[tokio::test]
    async fn limits_stand_beside_what_was_used() {
        let limits = |tokens, usd| Allowance {
            tokens_per_day: tokens,
            usd_per_day: usd,
            on_exhausted: Exhausted::Pause,
        };
        let mut budget = BudgetConfig {
            all: limits(None, Some(5.0)),
            ..BudgetConfig::default()
        };
        budget.agents.entry("scout".to_owned()).or_default().limits = limits(Some(9000), None);
        let spending = Arc::new(Fake::default()).spending().await.unwrap();
        let expected = "\
scope          calls  tokens  limit  cost          limit     held
all            3      3050    -      2.50 USD      5.00 USD  7 tokens
agent:scout    0      0       9000   0.00 USD      -         -
agent:thinker  3      1050    -      0.001200 USD  -         7 tokens
";
        assert_eq!(shown(&rows(&spending, &budget), None), expected);
    }
}
