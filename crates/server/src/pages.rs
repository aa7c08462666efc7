//! Cache of recent pages of runs. Dashboards request the same page repeatedly, and it stays the same as long
//! as the store has not changed.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::answer::Answer;

/// Maximum number of cached pages.
const MAX_PAGES: usize = 64;

/// Maximum size of a cached page, in bytes.
const MAX_PAGE_BYTES: usize = 256 * 1024;

/// Pages by query, each with the version of the store that it was read from.
#[derive(Default)]
pub(crate) struct PageCache {
    pages: Mutex<HashMap<String, (u64, Answer)>>,
}

impl PageCache {
    /// Returns the page for a query, if it was read from this version of the store.
    pub(crate) fn get(&self, query: &str, version: u64) -> Option<Answer> {
        let pages = self.pages.lock();
        let (known, page) = pages.get(query)?;
        (*known == version).then(|| page.clone())
    }

    /// Caches a page that was read from this version of the store or a later one.
    pub(crate) fn keep(&self, query: String, version: u64, page: &Answer) {
        if page.body.len() > MAX_PAGE_BYTES {
            return;
        }
        let mut pages = self.pages.lock();
        if pages.len() >= MAX_PAGES && !pages.contains_key(&query) {
            pages.clear();
        }
        pages.insert(query, (version, page.clone()));
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    #[test]
    fn a_cached_page_is_valid_for_one_version() {
        let cache = PageCache::default();
        let page = Answer::json(StatusCode::OK, &1).unwrap();
        cache.keep("limit=1".to_owned(), 7, &page);
        assert!(cache.get("limit=1", 7).is_some());
        assert!(cache.get("limit=1", 8).is_none());
        assert!(cache.get("limit=2", 7).is_none());
        for number in 0..MAX_PAGES {
            cache.keep(number.to_string(), 7, &page);
        }
        assert!(cache.get("limit=1", 7).is_none());
    }
}
