//! phases_page
