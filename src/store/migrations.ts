/** Schema steps in order; the database's `user_version` counts those applied. Never edit one that was released. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE inventories (
     identity   TEXT PRIMARY KEY,
     server_key TEXT NOT NULL,
     inventory  TEXT NOT NULL,
     stored_at  INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX inventories_by_age ON inventories (stored_at);`,
  `CREATE TABLE eras (
     identity         TEXT PRIMARY KEY,
     server_key       TEXT NOT NULL,
     era              TEXT NOT NULL,
     protocol_version TEXT NOT NULL,
     found_at         INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX eras_by_age ON eras (found_at);`,
  `CREATE TABLE threads (
     id         TEXT PRIMARY KEY,
     record     TEXT NOT NULL,
     written_at INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX threads_by_age ON threads (written_at);`,
  `CREATE TABLE approvals (
     subject      TEXT PRIMARY KEY,
     server       TEXT NOT NULL,
     environment  TEXT,
     plugin_id    TEXT,
     connector_id TEXT,
     link_id      TEXT,
     tool         TEXT NOT NULL,
     endpoint     TEXT NOT NULL,
     definition   TEXT NOT NULL,
     origin       TEXT NOT NULL,
     given_at     INTEGER NOT NULL
   ) WITHOUT ROWID;`,
  // Batches of records. AUTOINCREMENT: whoever follows goes by the number, which never comes twice.
  `CREATE TABLE audit (
     id      INTEGER PRIMARY KEY AUTOINCREMENT,
     last_at INTEGER NOT NULL,
     records TEXT NOT NULL,
     bytes   INTEGER NOT NULL
   );
   CREATE INDEX audit_by_time ON audit (last_at, bytes);`,
  `CREATE TABLE analytics (
     id         INTEGER PRIMARY KEY AUTOINCREMENT,
     actor      TEXT NOT NULL,
     binding    TEXT NOT NULL,
     event      TEXT NOT NULL,
     bytes      INTEGER NOT NULL,
     queued_at  INTEGER NOT NULL,
     attempts   INTEGER NOT NULL DEFAULT 0,
     held_until INTEGER NOT NULL
   );
   CREATE INDEX analytics_by_binding ON analytics (binding, id);`,
  "ALTER TABLE approvals ADD COLUMN principal TEXT NOT NULL DEFAULT 'owner';",
]
