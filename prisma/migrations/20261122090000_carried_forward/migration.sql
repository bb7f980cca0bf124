-- Where the entries of a loan have brought it, so that the next one needs neither them nor the schedule. A cache like the
-- figures: it holds for the version of the loan that it names, whoever has changed the loan since.
ALTER TABLE loan ADD COLUMN carried_forward text, ADD COLUMN carried_version integer;
