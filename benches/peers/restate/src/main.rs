//! The workflow of five steps as a Restate service, and its load generator.
//!
//! `peer-restate serve PORT` runs the service; `peer-restate load INGRESS RUNS FLIGHTS` calls it and prints
//! one JSON line with the figures.

use std::time::{Duration, Instant};

use restate_sdk::prelude::*;

#[restate_sdk::service]
trait Bench {
    async fn five(who: String) -> Result<String, HandlerError>;
}

struct Five;

impl Bench for Five {
    async fn five(&self, ctx: Context<'_>, who: String) -> Result<String, HandlerError> {
        let mut value = who;
        for step in 0..5 {
            let given = value.clone();
            value = ctx
                .run(|| async move { Ok(given) })
                .name(format!("s{step}"))
                .await?;
        }
        Ok(value)
    }
}

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("serve") => {
            let address = format!("127.0.0.1:{}", args[2]).parse().expect("a port");
            let endpoint = Endpoint::builder().bind(Five.serve()).build();
            HttpServer::new(endpoint).listen_and_serve(address).await;
        }
        Some("load") => {
            let runs = args[3].parse().expect("a number of runs");
            let flights = args[4].parse().expect("a number of flights");
            load(&args[2], runs, flights).await;
        }
        _ => eprintln!("peer-restate serve PORT | load INGRESS RUNS FLIGHTS"),
    }
}

async fn load(ingress: &str, runs: usize, flights: usize) {
    let url = format!("{ingress}/Bench/five");
    let client = reqwest::Client::new();
    for _ in 0..20 {
        call(&client, &url).await;
    }
    let begun = Instant::now();
    let tasks: Vec<_> = (0..flights)
        .map(|_| {
            let (client, url) = (client.clone(), url.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                for _ in 0..runs / flights {
                    let start = Instant::now();
                    call(&client, &url).await;
                    times.push(start.elapsed());
                }
                times
            })
        })
        .collect();
    let mut times: Vec<Duration> = Vec::new();
    for task in tasks {
        times.extend(task.await.expect("no call fails"));
    }
    let wall = begun.elapsed().as_secs_f64();
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1000.0;
    println!(
        "{}",
        serde_json::json!({
            "p50_ms": at(0.5),
            "p99_ms": at(0.99),
            "steps_per_s": times.len() as f64 * 5.0 / wall,
        })
    );
}

async fn call(client: &reqwest::Client, url: &str) {
    let answer = client
        .post(url)
        .header("content-type", "application/json")
        .body("\"Ada\"")
        .send()
        .await
        .expect("the ingress answers");
    assert!(answer.status().is_success(), "{answer:?}");
    assert_eq!(answer.text().await.expect("a body"), "\"Ada\"");
}
