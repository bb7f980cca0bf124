-- Provisions in the journal: two slots more of each posting, null in every row that is there. No row is written, and no table
-- is read. The version before this one posts as before, and passes over a booking of provisions without a posting: book
-- provisions once no instance runs that version.
-- The way back, where no provisions are booked: ALTER TABLE posting DROP CONSTRAINT posting_balanced, DROP COLUMN
-- provision_expense, DROP COLUMN loan_loss_allowance; then add the constraint of the migration journal, NOT VALID; and mark
-- it rolled back, as docs/operating/recovery.md says. Otherwise keep the columns: the postings of provisions are in them.
ALTER TABLE posting ADD COLUMN provision_expense bigint, ADD COLUMN loan_loss_allowance bigint;
-- Not validated, which would read the whole table: the constraint before it held for every row that is there.
ALTER TABLE posting DROP CONSTRAINT posting_balanced, ADD CONSTRAINT posting_balanced CHECK (moved_from IS NOT NULL OR
    coalesce(cash, 0) + coalesce(loan_portfolio, 0) + coalesce(interest_receivable, 0) + coalesce(fees_receivable, 0)
    + coalesce(penalties_receivable, 0) + coalesce(unearned_interest, 0) + coalesce(interest_income, 0)
    + coalesce(fee_income, 0) + coalesce(penalty_income, 0) + coalesce(overpayments, 0) + coalesce(waivers, 0)
    + coalesce(write_offs, 0) + coalesce(charge_offs, 0) + coalesce(recoveries, 0) + coalesce(opening_equity, 0)
    + coalesce(provision_expense, 0) + coalesce(loan_loss_allowance, 0) = 0) NOT VALID;
