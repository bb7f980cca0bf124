-- What a product has beyond flat interest per period: the method of interest, what its rate is per, the day count, grace, fees
-- and the rate that is allowed. Null: nothing. The version before this one reads and seals products without the column, so
-- it would lend a product that has terms at flat interest: make such products once no instance runs that version.
-- The way back, once every product that has terms is retired: ALTER TABLE loan_product DROP COLUMN terms; and mark it rolled back, as
-- docs/operating/recovery.md says. Loans keep their schedules.
ALTER TABLE loan_product ADD COLUMN terms jsonb CHECK (jsonb_typeof(terms) = 'object');
