//! `/api/v1/stats` and `/api/v1/slots`: statistics for dashboards.

use deft_service::{schedule, stats};
use deft_wire::Done;
use deft_wire::stats::{
    DaysQuery, OutcomeStats, SlotList, SlotQuery, SpendStats, ToolStats, ToolStatsQuery,
};
use deft_wire::token::TokenScope as Scope;

use crate::route::{Call, Route, Verb};

/// Maximum number of slots in one response.
const MAX_SLOTS: u32 = 1000;

pub(super) fn routes() -> Vec<Route> {
    use Scope::Read;
    use Verb::Get;
    vec![
        Route::new(
            Get,
            "/api/v1/stats/outcomes",
            "Count the outcomes of runs by skill and day",
            Read,
            outcomes,
        ),
        Route::new(
            Get,
            "/api/v1/stats/spending",
            "Show model costs by day",
            Read,
            spending,
        ),
        Route::new(
            Get,
            "/api/v1/stats/tools",
            "Show the error rate of each tool, from the newest events",
            Read,
            tools,
        ),
        Route::new(
            Get,
            "/api/v1/slots",
            "List the planned slots of all skills, earliest first",
            Read,
            slots,
        ),
    ]
}

fn outcomes(call: &Call<DaysQuery>) -> Done<OutcomeStats> {
    stats::outcomes(&call.server.app, call.query.days)
}

fn spending(call: &Call<DaysQuery>) -> Done<SpendStats> {
    stats::spending(&call.server.app, call.query.days)
}

fn tools(call: &Call<ToolStatsQuery>) -> Done<ToolStats> {
    stats::tools(&call.server.app, call.query.events)
}

fn slots(call: &Call<SlotQuery>) -> Done<SlotList> {
    let SlotQuery { from, to, limit } = &call.query;
    let limit = limit.unwrap_or(100).clamp(1, MAX_SLOTS);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    schedule::slots(
        &call.server.workspace,
        from.as_deref(),
        to.as_deref(),
        limit,
    )
}
