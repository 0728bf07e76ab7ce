import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../config/index.js'
import { serverKey } from '../identity/index.js'
import { configuredCatalog } from './configured.js'
import { effectiveServers } from './effective.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-configured-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

describe('the catalog of a configuration', () => {
  it('holds each server thread-wide, and disables with its reason what the requirements forbid', async () => {
    writeFileSync(
      join(home, 'config.toml'),
      '[mcp_servers.good]\ncommand = "good"\n[mcp_servers.other]\ncommand = "other"\n',
    )
    const requirementsFile = join(home, 'requirements.toml')
    writeFileSync(requirementsFile, '[mcp_servers.good.identity]\ncommand = "good"\n')
    const loaded = await loadConfig({ home, cwd: home, env: {}, requirementsFile })
    const servers = effectiveServers(configuredCatalog(loaded))
    expect(servers.map(({ key, config }) => [key, config.enabled, config.disabledReason])).toEqual([
      [serverKey('good'), true, undefined],
      [serverKey('other'), false, { kind: 'requirements', source: requirementsFile }],
    ])
  })
})
