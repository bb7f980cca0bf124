-- Entries by their value date. Entries are appended in the order of time, and most have the value date of their day: the
-- index keeps a few ranges of dates for each 32 pages, and costs a posting next to nothing.
-- The way back: DROP INDEX loan_entry_value_date; and mark it rolled back, as docs/operating/recovery.md says.
CREATE INDEX loan_entry_value_date ON loan_entry USING brin (value_date date_minmax_multi_ops)
  WITH (pages_per_range = 32, autosummarize = on);
