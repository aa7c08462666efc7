//! Questions of a run to the person who watches it, and the answers.

pub use deft_engine::{Asker, PendingResponse, Question, Response};
pub use deft_workflow::{Answer, Operation, Path as StepPath, ToolMark};
