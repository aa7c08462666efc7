//! Questions to the person in front of a run, and the answers.

pub use deft_engine::{Asker, Question, Responds, Response};
pub use deft_workflow::{Answer, Operation, Path as StepPath, ToolMark};
