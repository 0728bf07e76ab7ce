/** Schema steps in order; the database's `user_version` counts those applied. Never edit one that was released. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE inventories (
     identity   TEXT PRIMARY KEY,
     server_key TEXT NOT NULL,
     inventory  TEXT NOT NULL,
     stored_at  INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX inventories_by_age ON inventories (stored_at);`,
]
