//! Skills over MCP, from a file that is read again for every request, so a test can change it while the
//! server runs.

use serde_json::{Value, json};

use crate::protocol::{Server, error, result};

impl Server {
    /// Returns the current content of the skills file, or null without one.
    fn skills(&self) -> Value {
        let path = self.script()["skills"].as_str();
        let text = path.and_then(|path| std::fs::read(path).ok());
        let read = text.and_then(|text| serde_json::from_slice(&text).ok());
        read.unwrap_or(Value::Null)
    }

    /// Whether the server has skills.
    pub(crate) fn has_skills(&self) -> bool {
        self.script()["skills"].is_string()
    }

    /// Returns the response to a request about skills. Each request is written to the witness log under its
    /// method.
    pub(crate) fn skills_reply(&self, method: &str, id: &Value, params: &Value) -> Option<Value> {
        if !self.has_skills() {
            return None;
        }
        let skills = self.skills();
        let answer = match method {
            "skills/list" => Some(list_result(&skills, params)),
            "skills/get" => find_result(&skills, params),
            "resources/read" => read(&skills, params),
            _ => return None,
        };
        self.witness.write("started", method, params, &Value::Null);
        Some(match answer {
            Some(answer) => result(id, &answer),
            None => error(id, -32602, "unknown"),
        })
    }
}

fn head(skills: &Value) -> Value {
    let ttl = skills["ttl_ms"].as_u64().unwrap_or(0);
    let mut head = json!({"resultType": "complete", "ttlMs": ttl, "cacheScope": "private"});
    if !skills["meta"].is_null() {
        head["_meta"] = skills["meta"].clone();
    }
    head
}

fn list_result(skills: &Value, params: &Value) -> Value {
    let none = Vec::new();
    let all = skills["entries"].as_array().unwrap_or(&none);
    let cursor = params["cursor"].as_str().and_then(|at| at.parse().ok());
    let first: usize = cursor.unwrap_or(0);
    let size = skills["page"].as_u64();
    let size = size.map_or(all.len(), |size| usize::try_from(size).unwrap_or(1));
    let last = (first + size).min(all.len());
    let mut page = head(skills);
    page["skills"] = json!(&all[first.min(last)..last]);
    if last < all.len() {
        page["nextCursor"] = json!(last.to_string());
    }
    page
}

fn find_result(skills: &Value, params: &Value) -> Option<Value> {
    let lists = ["entries", "unlisted"].map(|key| skills[key].as_array());
    let mut all = lists.into_iter().flatten().flatten();
    let entry = all.find(|entry| entry["uri"] == params["uri"])?;
    let mut answer = head(skills);
    answer["skill"] = entry.clone();
    Some(answer)
}

fn read(skills: &Value, params: &Value) -> Option<Value> {
    let uri = params["uri"].as_str()?;
    let file = skills["files"].get(uri)?;
    let content = match file.as_str() {
        Some(text) => json!({"uri": uri, "mimeType": "text/markdown", "text": text}),
        // Any other value is sent as it is.
        None => file.clone(),
    };
    let mut answer = head(skills);
    answer["contents"] = json!([content]);
    Some(answer)
}
