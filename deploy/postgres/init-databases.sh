#!/bin/sh
# Makes the three databases and their roles. Runs once in the postgres container (docker-entrypoint-initdb.d), and may be
# run again against any server by a superuser: what is there stays, passwords and rights are brought to what they should be.
#
# For each of app, runtime, executor: <name>_owner owns the schema and migrates, <name> reads and writes rows.
# The passwords come from APP_DB_PASSWORD, APP_OWNER_DB_PASSWORD and so on, and go to psql through its environment.
set -eu

: "${APP_DB_PASSWORD:?}" "${APP_OWNER_DB_PASSWORD:?}"
: "${RUNTIME_DB_PASSWORD:?}" "${RUNTIME_OWNER_DB_PASSWORD:?}"
: "${EXECUTOR_DB_PASSWORD:?}" "${EXECUTOR_OWNER_DB_PASSWORD:?}"
superuser=${POSTGRES_USER:-postgres}

sql() {
    psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$superuser" --dbname "$@"
}

# name, variable that holds the password
make_role() {
    sql postgres --set role="$1" <<SQL
\getenv password $2
SELECT format('CREATE ROLE %I LOGIN', :'role') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec
ALTER ROLE :"role" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';
SQL
}

# name
make_database() {
    sql postgres --set database="$1" --set owner="$1_owner" <<'SQL'
SELECT format('CREATE DATABASE %I OWNER %I', :'database', :'owner')
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO :"database";
SQL
    sql "$1" --set role="$1" --set owner="$1_owner" <<'SQL'
REVOKE ALL ON SCHEMA public FROM PUBLIC;
ALTER SCHEMA public OWNER TO :"owner";
GRANT USAGE ON SCHEMA public TO :"role";
ALTER DEFAULT PRIVILEGES FOR ROLE :"owner" IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO :"role";
ALTER DEFAULT PRIVILEGES FOR ROLE :"owner" IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO :"role";
SQL
}

make_role app APP_DB_PASSWORD
make_role app_owner APP_OWNER_DB_PASSWORD
make_role runtime RUNTIME_DB_PASSWORD
make_role runtime_owner RUNTIME_OWNER_DB_PASSWORD
make_role executor EXECUTOR_DB_PASSWORD
make_role executor_owner EXECUTOR_OWNER_DB_PASSWORD
make_database app
make_database runtime
make_database executor

# The runtime asks for its checkpoint tables with CREATE TABLE IF NOT EXISTS at each start, which PostgreSQL refuses
# without CREATE on the schema even when they are there. It owns none of the migrated tables.
sql runtime -c 'GRANT CREATE ON SCHEMA public TO runtime'
