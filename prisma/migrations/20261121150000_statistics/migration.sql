-- How many loans there are to the rows, which a sample tells badly: a few with a long history, and the planner takes
-- every loan's for long, and sorts what an index has in order. From the next ANALYZE on.
ALTER TABLE loan_entry ALTER COLUMN loan_id SET (n_distinct = -0.2);
ALTER TABLE loan_period ALTER COLUMN loan_id SET (n_distinct = -0.1);
