//! The trace context of a run's calls. Not here: spans, which are derived from the journal when the run has
//! ended.

use std::sync::Arc;

use deft_model::{RunId, SpanId, TraceContext, TraceId, span_place};

/// The trace of a run.
pub(crate) struct RunTrace {
    run: RunId,
    ends: u32,
    context: TraceContext,
    records: bool,
}

impl RunTrace {
    /// Returns the trace of a run that has ended `ends` times; `records` says whether the host exports
    /// traces. `None` if neither the caller nor the host traces the run.
    pub(crate) fn find(
        run: &RunId,
        ends: u32,
        caller: Option<&Arc<TraceContext>>,
        records: bool,
    ) -> Option<Arc<Self>> {
        let context = match caller {
            Some(caller) => (**caller).clone(),
            None if records => TraceContext {
                trace: TraceId::from_run(run),
                span: SpanId::derive(run, ends, span_place::RUN),
                is_sampled: true,
                state: None,
            },
            None => return None,
        };
        Some(Arc::new(Self {
            run: run.clone(),
            ends,
            records: records && context.is_sampled,
            context,
        }))
    }

    /// The id of the trace, for log lines.
    pub(crate) fn id(&self) -> TraceId {
        self.context.trace
    }

    /// Returns the context for a call at a place. If no span will be recorded, this is the caller's own span.
    pub(crate) fn context_at(&self, place: &str) -> TraceContext {
        if !self.records {
            return self.context.clone();
        }
        let span = SpanId::derive(&self.run, self.ends, place);
        self.context.with_span(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0";

    fn caller(sampled: bool) -> Arc<TraceContext> {
        let parent = format!("{PARENT}{}", u8::from(sampled));
        Arc::new(TraceContext::parse(&parent, None).unwrap())
    }

    #[test]
    fn a_call_names_only_a_recorded_span() {
        let run = RunId::new("run_1");
        assert!(RunTrace::find(&run, 1, None, false).is_none());
        let sampled = caller(true);
        let passed_on = RunTrace::find(&run, 1, Some(&sampled), false).unwrap();
        assert_eq!(passed_on.context_at("fetch@1"), *sampled);
        let unsampled = caller(false);
        let unrecorded = RunTrace::find(&run, 1, Some(&unsampled), true).unwrap();
        assert_eq!(unrecorded.context_at("fetch@1"), *unsampled);
        let recorded = RunTrace::find(&run, 1, Some(&sampled), true).unwrap();
        let span = SpanId::derive(&run, 1, "fetch@1");
        assert_eq!(recorded.context_at("fetch@1"), sampled.with_span(span));
        let own = RunTrace::find(&run, 1, None, true)
            .unwrap()
            .context_at("fetch@1");
        assert_eq!((own.trace, own.span), (TraceId::from_run(&run), span));
    }
}
