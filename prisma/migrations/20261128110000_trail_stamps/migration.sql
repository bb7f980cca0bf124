-- The stamp of a row of the trail: a keyed hash over the row, made by the statement that writes it. The key is not in the
-- database, so a row that was changed or added by hand has no right stamp, also before it is sealed.
-- The way back: ALTER TABLE audit_entry DROP COLUMN stamp; ALTER TABLE event_chain DROP COLUMN stamps_after; and mark it rolled
-- back, as docs/operating/recovery.md says.
ALTER TABLE audit_entry ADD COLUMN stamp bytea;
-- The stamps of the changes up to this one were made with a secret of before, and cannot be checked.
ALTER TABLE event_chain ADD COLUMN stamps_after bigint NOT NULL DEFAULT 0;
