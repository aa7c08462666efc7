//! Splitting of a phrase into words: lower case, without punctuation and polite words.

/// Returns the words of a phrase. A comma is a separate word; `am` and `pm` are joined to the number before
/// them.
pub(super) fn words(text: &str) -> Vec<String> {
    let text = text
        .to_lowercase()
        .replace("a.m.", "am")
        .replace("p.m.", "pm");
    let text = text.trim().trim_end_matches(['.', '!', ';']);
    let text = text
        .replace(',', " , ")
        .replace('&', " and ")
        .replace('@', " at ");
    let text = text.replace("o'clock", " ").replace("once a day", "daily");
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let number = words
            .last()
            .is_some_and(|last| last.ends_with(|c: char| c.is_ascii_digit()));
        match (word, words.last_mut()) {
            ("am" | "pm", Some(last)) if number => last.push_str(word),
            ("please", _) => {}
            (word, _) => words.push(word.to_owned()),
        }
    }
    words
}

/// Converts a number word to digits.
pub(super) fn digits(word: &str) -> String {
    let number = match word {
        "a" | "an" | "one" => "1",
        "two" => "2",
        "three" => "3",
        "four" => "4",
        "five" => "5",
        "six" => "6",
        "seven" => "7",
        "eight" => "8",
        "nine" => "9",
        "ten" => "10",
        "twelve" => "12",
        "fifteen" => "15",
        "twenty" => "20",
        "thirty" => "30",
        "forty" => "40",
        "sixty" => "60",
        "ninety" => "90",
        other => other,
    };
    number.to_owned()
}

/// Returns the weekday that a word names, with Sunday as 0, as in cron.
pub(super) fn weekday(word: &str) -> Option<u8> {
    const NAMES: [(&str, &str); 7] = [
        ("sunday", "sun"),
        ("monday", "mon"),
        ("tuesday", "tue"),
        ("wednesday", "wed"),
        ("thursday", "thu"),
        ("friday", "fri"),
        ("saturday", "sat"),
    ];
    let word = word
        .strip_suffix('s')
        .filter(|_| word.len() > 5)
        .unwrap_or(word);
    let word = match word {
        "tues" => "tue",
        "thur" | "thurs" => "thu",
        "weds" => "wed",
        other => other,
    };
    let at = NAMES
        .iter()
        .position(|(long, short)| word == *long || word == *short)?;
    u8::try_from(at).ok()
}
