-- What a product has beyond flat interest per period: the method of interest, what its rate is per, the day count, grace, fees
-- and the rate that is allowed. Null: nothing. The version before this one reads and seals products without the column, so
-- it would lend a product that has terms at flat interest: make such products once no instance runs that version.
-- The check of the book of that version names each product that this one made or retired: its seal has the column.
-- The way back, where no product has terms: ALTER TABLE loan_product DROP COLUMN terms; and mark it rolled back, as
-- docs/operating/recovery.md says. With such products keep the column:
-- their loans follow from it.
ALTER TABLE loan_product ADD COLUMN terms jsonb CHECK (jsonb_typeof(terms) = 'object');
