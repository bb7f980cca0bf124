-- Trigrams: names are found by any of their words, and with a slip. The extension is one of Postgres' own and trusted, so that the
-- owner of the database may create it without being a superuser.
-- The way back: DROP EXTENSION pg_trgm; after the index customer_words.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
