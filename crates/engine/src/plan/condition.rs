//! The one merge of conditions.
