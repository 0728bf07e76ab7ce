import { describe, expect, it } from 'vitest'
import { ENDINGS, runOrphanMatrix, SERVERS, type ServerKind } from './orphan-matrix.js'

describe.skipIf(process.platform === 'win32')('when Reeve ends, no server outlives it', () => {
  it.each(Object.keys(SERVERS) as ServerKind[])('%s', async (server) => {
    const rows = await runOrphanMatrix(undefined, ENDINGS, [server])
    expect(rows.map(({ ending }) => ending)).toEqual(ENDINGS)
    for (const { ending, running, left, leftAfterStart } of rows) {
      expect(running, ending).toBeGreaterThan(0)
      // A killed owner cannot do anything: that something is left shows that the servers are stubborn indeed.
      if (ending === 'SIGKILL') expect(left).toBeGreaterThan(0)
      else expect(left, ending).toBe(0)
      expect(leftAfterStart, ending).toBe(0)
    }
  })
})
