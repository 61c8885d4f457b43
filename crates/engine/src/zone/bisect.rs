//! A refused batch: alone with the culprit.
