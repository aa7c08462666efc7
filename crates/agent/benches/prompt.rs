//! Benchmarks of assembling a prompt and of classifying a message.

use deft_agent::prompt::{Caps, PlaybookText, PromptInput, assemble};
use deft_agent::{Classifier, MatchLimits, Mode, Playbook};
use deft_model::{PromptEntry, ToolSpec};
use divan::Bencher;
use serde_json::json;

fn main() {
    divan::main();
}

const MESSAGE: &str = "Remind me in 5 minutes to drink water, and every morning send the report \
    about invoices of customer 417 to Bob; if the deployment failed, say why.";

fn skills(count: usize) -> Vec<PromptEntry> {
    let entry = |at: usize| {
        let name = format!("skill-{at:04}");
        let about =
            format!("Handles case {at} of invoices, reports and deployments for customer {at}.");
        let text = format!(
            "<skill>\n<name>\n{name}\n</name>\n<description>\n{about}\n</description>\n<location>\n/home/me/skills/{name}/SKILL.md\n</location>\n</skill>\n"
        );
        PromptEntry {
            name: name.into(),
            about: about.into(),
            text: text.into(),
            priority: i64::try_from(at % 7).unwrap_or_default(),
        }
    };
    (0..count).map(entry).collect()
}

fn tools(count: usize) -> Vec<ToolSpec> {
    let tool = |at: usize| ToolSpec {
        name: format!("server_tool_{at}"),
        description: format!("Does thing number {at}. And says more about it than fits in a line."),
        schema: json!({
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": ["integer", "string"]}, "deep": {"type": "boolean"}},
            "required": ["query"],
        }),
    };
    (0..count).map(tool).collect()
}

/// 1,000 skills and 200 tools.
#[divan::bench(args = [Mode::Tools, Mode::Cmd])]
fn assemble_1000_skills_200_tools(bencher: Bencher<'_, '_>, mode: Mode) {
    let (skills, tools) = (skills(1_000), tools(200));
    let playbook = PlaybookText {
        id: "cron-scheduling",
        why: "matched \"remind me\"",
        text: &"A line of a playbook that says what to do.\n".repeat(120),
    };
    let facts: Vec<String> = (0..200)
        .map(|at| format!("fact number {at} about somebody"))
        .collect();
    let recent: Vec<String> = (0..50).map(|at| format!("skill-{:04}", at * 17)).collect();
    bencher.bench_local(|| {
        let input = PromptInput {
            own: "You are a helpful assistant.",
            mode,
            commands: &skills[..40],
            tools: &tools,
            skills: &skills,
            recent: &recent,
            message: MESSAGE,
            playbooks: &[playbook],
            facts: &facts,
            now: "Sunday",
            ..PromptInput::default()
        };
        assemble(&input, &Caps::default())
    });
}

/// 10,000 keywords of 1,000 playbooks.
#[divan::bench]
fn classify_10000_keywords(bencher: Bencher<'_, '_>) {
    let playbook = |at: usize| Playbook {
        id: format!("playbook-{at}"),
        keywords: (0..10)
            .map(|word| format!("word {at} of {word}"))
            .chain([format!("customer {at}")])
            .collect(),
        priority: 0,
        tools: Vec::new(),
        chars: 2_000,
    };
    let Ok(classifier) = Classifier::new((0..1_000).map(playbook)) else {
        return;
    };
    let message = MESSAGE.repeat(15);
    bencher.bench_local(|| classifier.classify(&message, &MatchLimits::default()));
}
