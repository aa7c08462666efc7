//! Pagination. A cursor is the number of items before the page.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// Maximum number of items on a page.
const LENGTH: usize = 200;

/// Returns the requested page of a list, and the cursor of the next page.
pub(super) fn cut<T: Clone>(
    all: &[T],
    request: Option<&PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let cursor = request.and_then(|request| request.cursor.as_deref());
    cut_at(all, cursor, LENGTH)
}

/// Like [`cut`], for a given cursor and page length.
pub(super) fn cut_at<T: Clone>(
    all: &[T],
    cursor: Option<&str>,
    length: usize,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match cursor {
        None => Some(0),
        // A valid cursor is inside the list, unless the list has become shorter.
        Some(cursor) => cursor.parse().ok().filter(|start| *start <= all.len()),
    };
    let start: usize =
        start.ok_or_else(|| ErrorData::invalid_params("the cursor is unknown", None))?;
    let end = all.len().min(start + length);
    let next = (end < all.len()).then(|| end.to_string());
    Ok((all[start..end].to_vec(), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_without_a_gap() {
        let all: Vec<u32> = (0..5).collect();
        let first = cut_at(&all, None, 2).unwrap();
        assert_eq!(first, (vec![0, 1], Some("2".to_owned())));
        let last = cut_at(&all, Some("4"), 2).unwrap();
        assert_eq!(last, (vec![4], None));
        assert!(cut_at(&all, Some("9"), 2).is_err());
        assert!(cut_at(&all, Some("x"), 2).is_err());
    }
}
