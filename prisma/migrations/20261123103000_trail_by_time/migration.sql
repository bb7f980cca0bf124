-- The trail by time and by account: rows are appended in the order of time. And two small parts of the trail, each in its
-- order: what became of customers, and the actions that are not an everyday one.
-- The way back: DROP INDEX audit_entry_time, audit_entry_customer, audit_entry_rare; and mark it rolled back, as
-- docs/operating/recovery.md says.
CREATE INDEX audit_entry_time ON audit_entry USING brin (at, account_id int4_minmax_multi_ops)
  WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX audit_entry_customer ON audit_entry (organization_id, id) WHERE entity = 'customer';
CREATE INDEX audit_entry_rare ON audit_entry (organization_id, action, id)
  WHERE action NOT IN ('create', 'Repayment', 'time');
