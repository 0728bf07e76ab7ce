import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { parseStat } from './linux.js'
import { parsePs } from './ps.js'
import { processTable } from './table.js'
import { parseWindows } from './windows.js'

describe.skipIf(process.platform === 'win32')('processTable of this machine', () => {
  it('shows a child with its parent, its own session and a start that stays', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { detached: true })
    try {
      await once(child, 'spawn')
      const table = processTable(process.platform)
      const [first, second] = await Promise.all([table.rows(), table.rows()])
      const shown = first.find((row) => row.pid === child.pid)
      expect(shown).toMatchObject({ parent: process.pid, group: child.pid, zombie: false })
      expect(second.find((row) => row.pid === child.pid)?.start).toBe(shown?.start)
      if (table.rowOf && child.pid !== undefined) expect(table.rowOf(child.pid)).toEqual(shown)
    } finally {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
    if (child.pid !== undefined) expect(processTable(process.platform).rowOf?.(child.pid)).toBeUndefined()
  })
})

describe('reading what the systems print', () => {
  it('reads a stat line whose program name holds parentheses and spaces', () => {
    const line = `42 (a) R (b c) S 7 42 40 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 123456 1000 10 18446744073709551615 0`
    expect(parseStat(line)).toEqual({ pid: 42, parent: 7, group: 42, session: 40, start: 123456, zombie: false })
    expect(parseStat(line.replace(') S 7', ') Z 7'))?.zombie).toBe(true)
    expect(parseStat('')).toBeUndefined()
  })

  it('reads the lines of ps', () => {
    const output = [
      '    1     0     1 Ss   Mon Nov 30 17:22:05 2026    ',
      '  901   900   900 Z+   Tue Dec  1 01:02:03 2026',
      'garbage',
    ].join('\n')
    expect(parsePs(output)).toEqual([
      { pid: 1, parent: 0, group: 1, session: null, start: Date.UTC(2026, 10, 30, 17, 22, 5) / 1000, zombie: false },
      { pid: 901, parent: 900, group: 900, session: null, start: Date.UTC(2026, 11, 1, 1, 2, 3) / 1000, zombie: true },
    ])
  })

  it('reads the lines of PowerShell', () => {
    expect(parseWindows('4 0 1764500000000\r\n77 4 1764500000123\r\n\r\n')).toEqual([
      { pid: 4, parent: 0, start: 1764500000000, group: null, session: null, zombie: false },
      { pid: 77, parent: 4, start: 1764500000123, group: null, session: null, zombie: false },
    ])
  })
})
