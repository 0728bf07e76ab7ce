import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { homeFindings } from './home-findings.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-doctor-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))
const codes = async () => (await homeFindings(home)).map(({ code, severity }) => `${severity} ${code}`)

describe.skipIf(process.platform === 'win32')('rights in the home', () => {
  it('are fine when nobody else has any, and when there is no home yet', async () => {
    writeFileSync(join(home, 'state.sqlite'), '', { mode: 0o600 })
    chmodSync(home, 0o700)
    expect(await codes()).toEqual([])
    rmSync(home, { recursive: true })
    expect(await codes()).toEqual([])
  })

  it('are named where others have some, with the command that mends them', async () => {
    mkdirSync(join(home, 'run'))
    writeFileSync(join(home, 'run', 'gateway-token'), '')
    chmodSync(join(home, 'run', 'gateway-token'), 0o644)
    chmodSync(home, 0o755)
    expect(await codes()).toEqual(['warning home_readable', 'error file_readable'])
    chmodSync(home, 0o777)
    expect((await homeFindings(home))[0]).toMatchObject({
      severity: 'error',
      code: 'home_writable',
      place: home,
      mend: `chmod 700 '${home}'`,
    })
  })
})
