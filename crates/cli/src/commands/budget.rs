//! `deft budget`: today's usage, limits, and paused agents.

use std::process::ExitCode;

use deft_service::Workspace;
use deft_service::budget::{self, BudgetKey, BudgetRequest};
use deft_service::talk::dollars;
use deft_service::time;
use deft_wire::budget::{BudgetScope, BudgetView, PauseEnd, PausedAgent, ScopeUsage};
use deft_wire::model::{SpendSubject, Usd};
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::args::{Budget, BudgetSet, Global};
use crate::failure::Done;
use crate::output::{Output, format_count};
use crate::table::{Column, Row, Table};

pub(crate) fn run(command: &Budget, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    match command {
        Budget::Set(args) => set(args, &workspace, output),
        Budget::Show => {
            let view = budget::show(&workspace)?;
            let zone = workspace.home()?.moment().zone;
            show(&view, &zone, output)
        }
        Budget::Resume { agent } => resume(agent, &workspace, output),
    }
}

fn resume(agent: &str, workspace: &Workspace, output: &Output) -> Done {
    let resumed = budget::resume(workspace, agent)?;
    if output.json {
        output.document(&resumed)?;
    } else if resumed.was_paused {
        output.prose(format!("`{agent}` is no longer paused"))?;
    } else {
        output.prose(format!("`{agent}` was not paused"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(view: &BudgetView, zone: &TimeZone, output: &Output) -> Done {
    if output.json {
        output.document(view)?;
        return Ok(ExitCode::SUCCESS);
    }
    output.table(&page(&view.scopes))?;
    for paused in &view.paused {
        output.prose(describe(paused, zone))?;
        output.note(&format!("hint: {}", resume_hint(paused)));
    }
    let all = view
        .scopes
        .iter()
        .find(|scope| scope.used.scope == SpendSubject::All);
    if let Some(BudgetScope { used, .. }) = all
        && used.estimated_calls > 0
    {
        let calls = usize::try_from(used.estimated_calls).unwrap_or(usize::MAX);
        output.note(&format!(
            "a crash interrupted {}; {} tokens are an estimate",
            format_count(calls, "call"),
            used.estimated_tokens
        ));
    }
    if !view.day.is_empty() {
        output.note(&format!("on {}", view.day));
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(paused: &PausedAgent, zone: &TimeZone) -> String {
    let until = match paused.until {
        PauseEnd::Limit => "until its limit allows more calls",
        PauseEnd::Resume => "until a person resumes it",
    };
    let since = time::show(paused.since, zone);
    let PausedAgent { agent, reason, .. } = paused;
    format!("`{agent}` is paused since {since}, {until}: {reason}")
}

fn resume_hint(paused: &PausedAgent) -> String {
    match paused.until {
        PauseEnd::Limit => "it resumes tomorrow, or after you raise the limit with `deft budget \
             set`"
            .to_owned(),
        PauseEnd::Resume => format!("`deft budget resume {}` resumes it", paused.agent),
    }
}

fn page(scopes: &[BudgetScope]) -> Table {
    let columns = [
        Column::keep("scope"),
        Column::keep("calls"),
        Column::keep("tokens"),
        Column::keep("limit"),
        Column::keep("cost"),
        Column::keep("limit"),
        Column::extra("held"),
    ];
    Table::new(columns, scopes.iter().map(row))
}

fn row(scope: &BudgetScope) -> Row {
    let (used, money) = (&scope.used, scope.limit_usd.map(Usd::from_dollars));
    let tokens = scope.limit_tokens.map(|most| most.to_string());
    Row::new([
        used.scope.to_string().into(),
        used.calls.to_string().into(),
        (used.input_tokens + used.output_tokens).to_string().into(),
        tokens.unwrap_or_else(|| "-".to_owned()).into(),
        dollars(used.cost_usd).into(),
        money.map_or("-".to_owned(), dollars).into(),
        format_reserved(used).into(),
    ])
}

/// Formats the amount reserved for calls in flight.
fn format_reserved(used: &ScopeUsage) -> String {
    match (used.reserved_tokens, used.reserved_usd) {
        (0, money) if money == Usd::default() => "-".to_owned(),
        (tokens, money) if money == Usd::default() => format!("{tokens} tokens"),
        (tokens, money) => format!("{tokens} tokens, {}", dollars(money)),
    }
}

fn set(args: &BudgetSet, workspace: &Workspace, output: &Output) -> Done {
    let given = [
        (BudgetKey::TokensPerDay, &args.tokens_per_day),
        (BudgetKey::UsdPerDay, &args.usd_per_day),
        (BudgetKey::OnExhausted, &args.on_exhausted),
        (BudgetKey::SpikeTokens, &args.spike_tokens),
        (BudgetKey::SpikeFactor, &args.spike_factor),
    ];
    let given = given.into_iter();
    let request = BudgetRequest {
        agent: args.agent.clone(),
        changes: given
            .filter_map(|(key, value)| Some((key, value.clone()?)))
            .collect(),
    };
    let done = budget::set(workspace, &request)?;
    if output.json {
        output.document(&done)?;
        return Ok(ExitCode::SUCCESS);
    }
    for (name, value) in &done.settings {
        match value {
            Value::Null => output.prose(format!("`{name}` has no limit now"))?,
            value @ (Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_)) => {
                output.data(format!("set: {name} = {}", deft_config::literal(value)))?;
            }
        }
    }
    output.note(&format!("written to {}", done.path));
    if done.settings.values().any(|value| !value.is_null()) {
        for advice in budget::advise(workspace, args.agent.as_deref()) {
            output.note(&format!(
                "warning: {}\nhint: {}",
                advice.message, advice.hint
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TableStyle;

    /// Pauses that end at an instant, and pauses that a person must end.
    #[test]
    fn a_pause_shows_how_to_end_it() {
        let paused = |until| PausedAgent {
            agent: "scout".to_owned(),
            since: jiff::Timestamp::UNIX_EPOCH,
            reason: "too much".to_owned(),
            until,
        };
        let texts = [PauseEnd::Limit, PauseEnd::Resume].map(|until| {
            let paused = paused(until);
            let document = serde_json::to_value(&paused).unwrap();
            (
                describe(&paused, &TimeZone::UTC),
                resume_hint(&paused),
                document,
            )
        });
        let begun = "`scout` is paused since 1970-01-01T00:00:00+00:00";
        let document = |until: &str| {
            serde_json::json!({"agent": "scout", "since": "1970-01-01T00:00:00Z",
                "reason": "too much", "until": until})
        };
        let expected = [
            (
                format!("{begun}, until its limit allows more calls: too much"),
                "it resumes tomorrow, or after you raise the limit with `deft budget set`"
                    .to_owned(),
                document("limit"),
            ),
            (
                format!("{begun}, until a person resumes it: too much"),
                "`deft budget resume scout` resumes it".to_owned(),
                document("resume"),
            ),
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn usage_is_shown_with_its_limit() {
        let used = |scope: SpendSubject, calls, tokens, cost| ScopeUsage {
            scope,
            calls,
            input_tokens: tokens,
            cost_usd: Usd::from_micros(cost),
            reserved_tokens: calls,
            ..ScopeUsage::default()
        };
        let scope = |used, limit_tokens, limit_usd| BudgetScope {
            used,
            limit_tokens,
            limit_usd,
            on_exhausted: None,
        };
        let scopes = [
            scope(used(SpendSubject::All, 3, 3050, 2_500_000), None, Some(5.0)),
            scope(
                used(SpendSubject::Agent("scout".to_owned()), 0, 0, 0),
                Some(9000),
                None,
            ),
            scope(
                used(SpendSubject::Agent("thinker".to_owned()), 3, 1050, 1200),
                None,
                None,
            ),
        ];
        let expected = "\
SCOPE          CALLS  TOKENS  LIMIT  COST          LIMIT     HELD
all            3      3050    -      2.50 USD      5.00 USD  3 tokens
agent:scout    0      0       9000   0.00 USD      -         -
agent:thinker  3      1050    -      0.001200 USD  -         3 tokens
";
        let paper = TableStyle {
            width: None,
            color: false,
        };
        assert_eq!(page(&scopes).print(paper).as_str(), expected);
    }
}
