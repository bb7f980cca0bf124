-- Room in each page for what becomes of its loans: a change that finds some stays in its page, and where it touches no
-- indexed column it leaves its eight indexes alone; in a large book that is most of what a repayment writes. Pages of
-- before come to it when their loans change.
ALTER TABLE loan SET (fillfactor = 80);
