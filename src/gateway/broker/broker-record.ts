import { readFileSync, rmSync, writeFileSync } from 'node:fs'

/** What `run/broker.json` says: for people, and for ending a broker that answers no more. */
export interface BrokerRecord {
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}

export function writeRecord(file: string, { version, startedAt }: BrokerRecord): void {
  const record = { pid: process.pid, version, started_at: new Date(startedAt).toISOString() }
  writeFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 })
}

/** The process of the broker that wrote the record last; undefined when there is none, or none that is an ordinary process. */
export function recordedPid(file: string): number | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const pid = typeof record === 'object' && record !== null ? Reflect.get(record, 'pid') : undefined
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined
  } catch {
    return undefined
  }
}

/** Leaves the record of another process alone. */
export function removeRecord(file: string): void {
  if (recordedPid(file) === process.pid) rmSync(file, { force: true })
}
