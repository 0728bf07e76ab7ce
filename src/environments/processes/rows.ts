/** A process, unmistakably: its number, and the moment it began in the table's own unit. Numbers are reused. */
export interface ProcessIdentity {
  readonly pid: number
  readonly start: number
}

export interface ProcessRow extends ProcessIdentity {
  readonly parent: number
  /** Process group; null where there are none (Windows). */
  readonly group: number | null
  /** Session; null where the system does not tell it. */
  readonly session: number | null
  /** Ended, but not collected by its parent: it runs nothing, yet holds its number. */
  readonly zombie: boolean
}

/** The running processes of this machine, as far as this user may see them. */
export interface ProcessTable {
  /** Where the numbers of this table mean something: another boot or container has another place. */
  readonly place: string
  /** Raises when the system cannot be asked. */
  rows(): Promise<readonly ProcessRow[]>
  /** The same, blocking: for the exit of this process. Absent where that would take seconds. */
  readonly rowsNow?: () => readonly ProcessRow[]
  /** One process at this very moment; undefined when there is none. Absent where asking takes time. */
  readonly rowOf?: (pid: number) => ProcessRow | undefined
}

export function sameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.start === b.start
}
