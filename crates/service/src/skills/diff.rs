//! The difference between two texts, as a unified diff.

/// Number of equal lines around a change.
const CONTEXT_LINES: usize = 3;

/// Maximum number of cells in the table for the search of equal lines; larger texts are replaced as a whole.
const CELLS: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Old(&'a str),
    New(&'a str),
}

/// Returns the unified diff of two texts; empty if they are equal.
pub(super) fn unified_diff(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let lines = compare(&lines(old), &lines(new));
    let is_change = |line: &Line<'_>| !matches!(line, Line::Same(_));
    let changes: Vec<usize> = (0..lines.len())
        .filter(|at| is_change(&lines[*at]))
        .collect();
    let Some(first) = changes.first() else {
        return String::new();
    };
    let mut out = format!("--- {old_name}\n+++ {new_name}\n");
    let mut begin = *first;
    for pair in changes.windows(2) {
        if pair[1] - pair[0] > 2 * CONTEXT_LINES {
            hunk(&lines, begin, pair[0], &mut out);
            begin = pair[1];
        }
    }
    hunk(&lines, begin, changes[changes.len() - 1], &mut out);
    out
}

/// Writes the lines from the first to the last change, with context lines.
fn hunk(lines: &[Line<'_>], first: usize, last: usize, out: &mut String) {
    let begin = first.saturating_sub(CONTEXT_LINES);
    let end = (last + 1 + CONTEXT_LINES).min(lines.len());
    let of_old = |line: &&Line<'_>| !matches!(line, Line::New(_));
    let of_new = |line: &&Line<'_>| !matches!(line, Line::Old(_));
    let (before, shown) = (&lines[..begin], &lines[begin..end]);
    let range = |before: usize, count: usize| {
        // The header of an empty range has the number of the line before it.
        let start = if count == 0 { before } else { before + 1 };
        format!("{start},{count}")
    };
    let old = range(
        before.iter().filter(of_old).count(),
        shown.iter().filter(of_old).count(),
    );
    let new = range(
        before.iter().filter(of_new).count(),
        shown.iter().filter(of_new).count(),
    );
    out.push_str(&format!("@@ -{old} +{new} @@\n"));
    for line in shown {
        let (sign, text) = match line {
            Line::Same(text) => (' ', text),
            Line::Old(text) => ('-', text),
            Line::New(text) => ('+', text),
        };
        out.push(sign);
        out.push_str(text);
        if !text.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Merges all lines of both texts into one sequence.
fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let same = old.iter().zip(new).take_while(|(one, other)| one == other);
    let start = same.count();
    let (rest_old, rest_new) = (&old[start..], &new[start..]);
    let ends = rest_old.iter().rev().zip(rest_new.iter().rev());
    let end = ends.take_while(|(one, other)| one == other).count();
    let (middle_old, middle_new) = (
        &rest_old[..rest_old.len() - end],
        &rest_new[..rest_new.len() - end],
    );
    let mut all: Vec<Line<'a>> = old[..start].iter().map(|line| Line::Same(line)).collect();
    all.extend(compare_middle(middle_old, middle_new));
    let tail = &rest_old[rest_old.len() - end..];
    all.extend(tail.iter().map(|line| Line::Same(line)));
    all
}

/// Keeps the longest common subsequence of lines; the other lines were removed or added.
fn compare_middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let width = new.len() + 1;
    let cells = (old.len() + 1).saturating_mul(width);
    let mut all = Vec::with_capacity(old.len() + new.len());
    let (mut i, mut j) = (0, 0);
    if cells <= CELLS {
        // `longest[i * width + j]` is the number of common lines from `i` and `j` on.
        let mut longest = vec![0_u32; cells];
        for i in (0..old.len()).rev() {
            for j in (0..new.len()).rev() {
                longest[i * width + j] = if old[i] == new[j] {
                    longest[(i + 1) * width + j + 1] + 1
                } else {
                    longest[(i + 1) * width + j].max(longest[i * width + j + 1])
                };
            }
        }
        while i < old.len() && j < new.len() {
            if old[i] == new[j] {
                all.push(Line::Same(old[i]));
                (i, j) = (i + 1, j + 1);
            } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
                all.push(Line::Old(old[i]));
                i += 1;
            } else {
                all.push(Line::New(new[j]));
                j += 1;
            }
        }
    }
    all.extend(old[i..].iter().map(|line| Line::Old(line)));
    all.extend(new[j..].iter().map(|line| Line::New(line)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_a_few_lines_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10";
        let diff = unified_diff(old, new, "a", "b");
        let expected = "--- a\n+++ b\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+10\n\
                        \\ No newline at end of file\n";
        assert_eq!(diff, expected);
    }

    #[test]
    fn distant_changes_are_separate_and_equal_texts_have_no_diff() {
        let old: String = (1..=30).map(|n| format!("{n}\n")).collect();
        let new = old.replacen("2\n", "", 1).replace("29\n", "29\nx\n");
        let diff = unified_diff(&old, &new, "a", "b");
        assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
        assert_eq!(unified_diff(&old, &old, "a", "b"), "");
        assert!(unified_diff("", "a\n", "a", "b").contains("@@ -0,0 +1,1 @@\n+a\n"));
    }
}
