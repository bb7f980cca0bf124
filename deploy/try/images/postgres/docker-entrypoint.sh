#!/usr/bin/env bash
# What docker-compose.yml relies on of the official entrypoint: root gives the volume to postgres and becomes it; an empty
# volume becomes a cluster of POSTGRES_USER with POSTGRES_DB, whose server answers on its socket only until it is ready.
set -Eeuo pipefail
if [ "$1" = postgres ] && [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA"
  find /var/lib/postgresql /var/run/postgresql \! -user postgres -exec chown postgres '{}' +
  exec setpriv --reuid=postgres --regid=postgres --init-groups "${BASH_SOURCE[0]}" "$@"
fi
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?}"
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA"
  # shellcheck disable=SC2086
  initdb --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") ${POSTGRES_INITDB_ARGS:-}
  printf '\nhost all all all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
  pg_ctl --pgdata="$PGDATA" --wait -o "-c listen_addresses='' -p 5432" start
  createdb --username="$POSTGRES_USER" --no-password "${POSTGRES_DB:-$POSTGRES_USER}"
  pg_ctl --pgdata="$PGDATA" --mode=fast --wait stop
fi
exec "$@"
