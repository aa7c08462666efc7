//! What the repairs of arguments that a model wrote go by (S0.42).

use serde::{Deserialize, Serialize};

/// What the repairs go by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pipeline {
    /// Parameters that models make up.
    pub hallucinated: Vec<Rule>,
}

/// Parameters that models add to a family of tools although it has none such.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The tools: a name, or a beginning followed by `*`.
    pub tools: String,
    /// The parameters that are dropped.
    pub parameters: Vec<String>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self {
            hallucinated: vec![Rule {
                tools: "vercel_*".to_owned(),
                parameters: vec!["teamId".to_owned(), "slug".to_owned()],
            }],
        }
    }
}
