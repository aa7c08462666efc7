//! The worker as a separate program, for the tests and benches of this crate.

fn main() -> std::process::ExitCode {
    deft_compute::worker_main()
}
