import { readdirSync, readFileSync } from 'node:fs'

interface Row {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
}

/**
 * What a group started and that left it: of its session, or descending from it by living parent links. A signal to the
 * group does not reach these. Linux alone; what also lost its parents made itself a daemon on purpose and stays.
 */
export function outsidersOf(leader: number): readonly number[] {
  if (process.platform !== 'linux') return []
  const rows = allRows()
  const found = new Set(
    rows.filter(({ group, session }) => group === leader || session === leader).map(({ pid }) => pid),
  )
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const { pid, parent } of rows) if (found.has(parent)) found.add(pid)
  }
  return rows.filter(({ pid, group }) => found.has(pid) && group !== leader).map(({ pid }) => pid)
}

function allRows(): readonly Row[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap(rowOf)
  } catch {
    // Without /proc the group is all that can be known.
    return []
  }
}

function rowOf(pid: string): readonly Row[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is the program's name in parentheses, with any character in it (proc_pid_stat(5)).
    const [, parent, group, session] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(session) }]
  } catch {
    // It ended meanwhile.
    return []
  }
}
