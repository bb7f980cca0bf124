-- The role that the service signs in with: it may do what `mkopo migrate` grants it, and nothing else. Run by psql as the
-- owner, each time that migrations are; it also takes over a changed SERVICE_PASSWORD.
\set ON_ERROR_STOP on
\getenv password SERVICE_PASSWORD
SELECT 'CREATE ROLE mkopo_service' WHERE to_regrole('mkopo_service') IS NULL \gexec
ALTER ROLE mkopo_service LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';
