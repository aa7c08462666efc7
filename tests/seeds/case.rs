//! The form of a case file; the whole grammar is in `README.md` beside it.
//!
//! Reading only: nothing is run and no document is looked at here.

use serde_json::Value;

/// A case file: marks for prose, and cases.
#[derive(Debug, Default)]
pub(crate) struct Cases {
    pub(crate) prose: Vec<Prose>,
    pub(crate) cases: Vec<Case>,
}

/// Cuts that are no examples, and why.
#[derive(Debug)]
pub(crate) struct Prose {
    pub(crate) place: Reference,
    /// Only cuts of this kind: `blocks`, `rows` or `phrases`.
    pub(crate) kind: String,
    pub(crate) reason: String,
}

/// A place in a document: `000:12`, `000:12-14` or `000:12#2`, then `@` and the hash of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) place: String,
    pub(crate) hash: String,
}

impl Reference {
    pub(crate) fn parse(text: &str) -> Self {
        let (place, hash) = text.split_once('@').unwrap_or_else(|| {
            panic!("`{text}` has no hash; write `{text}@?` and run with UPDATE=1")
        });
        Self {
            place: place.to_owned(),
            hash: hash.to_owned(),
        }
    }

    /// The document, the lines, and the number of the phrase.
    pub(crate) fn parts(&self) -> (&str, usize, usize, Option<usize>) {
        let number = |text: &str| {
            text.parse()
                .unwrap_or_else(|_| panic!("`{}` is no place in a document", self.place))
        };
        let (document, lines) = self.place.split_once(':').unwrap_or((&self.place, ""));
        let (lines, phrase) = match lines.split_once('#') {
            Some((lines, phrase)) => (lines, Some(number(phrase))),
            None => (lines, None),
        };
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        (document, number(first), number(last), phrase)
    }
}

/// What is done and expected, in one home or in several, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) cuts: Vec<Reference>,
    pub(crate) homes: Vec<Vec<String>>,
    /// Why it fails today.
    pub(crate) fails: Option<String>,
    /// What the model answers, in order.
    pub(crate) answers: Vec<String>,
    pub(crate) steps: Vec<Step>,
}

impl Case {
    /// Whether it puts words of a document into anything.
    pub(crate) fn needs_documents(&self) -> bool {
        let shown = format!("{:?} {:?}", self.answers, self.steps);
        let mut places = shown.split("@{").skip(1);
        places.any(|place| place.starts_with(|c: char| c.is_ascii_digit()))
    }
}

#[derive(Debug)]
pub(crate) enum Step {
    Write {
        path: String,
        text: String,
    },
    Run {
        args: Vec<String>,
        expected: Vec<Expectation>,
    },
}

/// One thing that has to be so after a command.
#[derive(Debug)]
pub(crate) enum Expectation {
    /// A code, or nothing for every code but 0.
    Exit(Option<i32>),
    /// The document on stdout, at a JSON pointer.
    At(String, Test),
    Out(Test),
    Err(Test),
    /// Calls of tools of servers, those that send to Telegram left out; none for `nothing`.
    Called(Option<(String, String)>),
    /// Messages in Telegram, by the bot or by a server: the chat and the text.
    Told(Option<(String, Test)>),
    /// How often a model was asked.
    Asked(usize),
    /// The messages of the last question to the model.
    Prompt(Test),
    /// The messages of one of the questions since the last command, counted from 1.
    Question(usize, Test),
    Offered(String, bool),
    /// Keeps a value of the document under a name.
    Set(String, String),
}

#[derive(Clone, Debug)]
pub(crate) enum Test {
    Is(String),
    Has(String),
    Lacks(String),
    /// An array or object with so many members.
    Long(usize),
    /// A number that is smaller than this.
    Below(u64),
    Absent,
}

/// Reads a case file.
pub(crate) fn parse(file: &str, text: &str) -> Cases {
    let mut all = Cases::default();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let place = format!("{file}:{}", index + 1);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(title) = line.strip_prefix("== ") {
            all.cases.push(Case {
                title: title.to_owned(),
                ..Case::default()
            });
            continue;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "prose" {
            all.prose.push(prose(&place, rest));
            continue;
        }
        let case = all.cases.last_mut();
        let case = case.unwrap_or_else(|| panic!("{place}: no case has begun"));
        match word {
            "cut" => case
                .cuts
                .extend(rest.split_whitespace().map(Reference::parse)),
            "home" => case.homes.extend(rest.split('|').map(words)),
            "fails" => case.fails = Some(rest.to_owned()),
            "model" => case.answers.push(rest.to_owned()),
            "write" => {
                let mut text = String::new();
                while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with('|')) {
                    text.push_str(line.strip_prefix("| ").unwrap_or(&line[1..]));
                    text.push('\n');
                }
                case.steps.push(Step::Write {
                    path: rest.to_owned(),
                    text,
                });
            }
            "$" => case.steps.push(Step::Run {
                args: split(rest),
                expected: Vec::new(),
            }),
            "" => match case.steps.last_mut() {
                Some(Step::Run { expected, .. }) => expected.push(expectation(&place, line.trim())),
                _ => panic!("{place}: nothing was run before this"),
            },
            _ => panic!("{place}: `{word}` is not known here"),
        }
    }
    all
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn prose(place: &str, text: &str) -> Prose {
    let mut parts = text.splitn(3, ' ');
    let mut next = || {
        let part = parts.next();
        part.unwrap_or_else(|| panic!("{place}: write `prose PLACE@HASH KIND REASON`"))
    };
    Prose {
        place: Reference::parse(next()),
        kind: next().to_owned(),
        reason: next().to_owned(),
    }
}

/// Words of a command line, in quotes where they have spaces.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => (quote, begun) = (Some(c), true),
            None if c == ' ' => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            Some(_) | None => word.push(c),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

fn expectation(place: &str, line: &str) -> Expectation {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let number = || {
        rest.parse()
            .unwrap_or_else(|_| panic!("{place}: `{rest}` is no number"))
    };
    let nothing = rest == "nothing";
    match word {
        "exit" => Expectation::Exit((rest != "!0").then(number)),
        "asked" => Expectation::Asked(usize::try_from(number()).unwrap()),
        "out" => Expectation::Out(test(place, rest)),
        "err" => Expectation::Err(test(place, rest)),
        "prompt" => Expectation::Prompt(test(place, rest)),
        "question" => {
            let (number, rest) = pair(place, rest);
            Expectation::Question(number.parse().unwrap(), test(place, &rest))
        }
        "offered" => Expectation::Offered(
            rest.trim_start_matches('!').to_owned(),
            !rest.starts_with('!'),
        ),
        "called" => Expectation::Called((!nothing).then(|| pair(place, rest))),
        "told" => Expectation::Told((!nothing).then(|| {
            let (chat, said) = pair(place, rest);
            match said.strip_prefix("~ ") {
                Some(part) => (chat, Test::Has(part.to_owned())),
                None => (chat, Test::Is(said)),
            }
        })),
        "set" => {
            let (name, pointer) = pair(place, rest);
            Expectation::Set(name, pointer)
        }
        pointer if pointer.starts_with('/') => {
            Expectation::At(pointer.to_owned(), test(place, rest))
        }
        _ => panic!("{place}: `{word}` is not known here"),
    }
}

fn pair(place: &str, text: &str) -> (String, String) {
    let (first, rest) = text
        .split_once(' ')
        .unwrap_or_else(|| panic!("{place}: something is missing behind `{text}`"));
    (first.to_owned(), rest.to_owned())
}

fn test(place: &str, text: &str) -> Test {
    if text == "absent" {
        return Test::Absent;
    }
    let (word, value) = pair(place, text);
    match word.as_str() {
        "=" => Test::Is(value),
        "~" => Test::Has(value),
        "!~" => Test::Lacks(value),
        "long" => Test::Long(value.parse().unwrap()),
        "below" => Test::Below(value.parse().unwrap()),
        _ => panic!("{place}: `{word}` is none of `=`, `~`, `!~`, `long`, `below`, `absent`"),
    }
}

impl Test {
    /// Whether a value is as expected; `fill` puts in what the placeholders stand for.
    pub(crate) fn check(
        &self,
        found: Option<&Value>,
        fill: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<(), String> {
        let shown = match found {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "nothing".to_owned(),
        };
        let good = match self {
            Self::Is(wanted) => {
                let wanted = fill(wanted)?;
                let value = serde_json::from_str(&wanted).unwrap_or(Value::String(wanted.clone()));
                found == Some(&value) || found == Some(&Value::String(wanted))
            }
            Self::Has(wanted) => found.is_some() && shown.contains(&fill(wanted)?),
            Self::Lacks(wanted) => !shown.contains(&fill(wanted)?),
            Self::Long(length) => {
                let members = found.map(|value| match value {
                    Value::Array(list) => list.len(),
                    Value::Object(map) => map.len(),
                    _ => usize::MAX,
                });
                members == Some(*length)
            }
            Self::Below(limit) => {
                let number = found.and_then(Value::as_u64);
                number.is_some_and(|number| number < *limit)
            }
            Self::Absent => found.is_none(),
        };
        if good {
            return Ok(());
        }
        Err(format!("wanted {self:?}, found `{shown}`"))
    }
}
