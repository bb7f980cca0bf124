-- What a loan has of its product's terms besides its schedule: fees that were kept back, repeating penalties, the order of
-- allocation, early settlement and the cap of charges. Null: nothing. And the day on which a single charge is due. Both columns
-- are null in every row that is there: no row is written, and no table is read.
-- The version before this one knows neither: make products with such terms, and single charges, once no instance runs that
-- version. It would lend such a product without them, and stop at a loan that has a charge.
-- The way back, where no loan has rules and no entry is a charge:
-- ALTER TABLE loan DROP COLUMN rules; ALTER TABLE loan_entry DROP COLUMN due_on; and mark it rolled back, as
-- docs/operating/recovery.md says. Otherwise keep the columns: what is owed follows from them.
ALTER TABLE loan ADD COLUMN rules jsonb;
-- Not validated, which would read the whole table: it holds for every row that is written from now on.
ALTER TABLE loan ADD CONSTRAINT loan_rules_check CHECK (jsonb_typeof(rules) = 'object') NOT VALID;
ALTER TABLE loan_entry ADD COLUMN due_on date;
