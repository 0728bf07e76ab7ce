import { describe, expect, it } from 'vitest'
import { httpConfig, stdioConfig } from '../../../test/fixtures/server-config.js'
import { hostedAppsRegistration } from '../../catalog/index.js'
import { serverKey } from '../../identity/index.js'
import { CallFiles } from './call-files.js'

const TAKE = {
  name: 'take',
  inputSchema: { type: 'object', properties: { file: { type: 'object' } } },
  _meta: { 'openai/fileParams': ['file'] },
}
const APPS_URL = 'https://chatgpt.com/backend-api/ps/mcp'
const APPS = hostedAppsRegistration({ id: 'apps', order: 0 }, httpConfig(APPS_URL))

function filesOf(trusted: ConstructorParameters<typeof CallFiles>[0]['trusted'] = []): CallFiles {
  return new CallFiles({
    auth: undefined,
    baseUrl: 'https://chatgpt.com/backend-api/',
    environments: { ids: [], get: () => undefined },
    trusted,
  })
}

const isMasked = (files: CallFiles, server: Parameters<CallFiles['shown']>[0]) =>
  JSON.stringify(files.shown(server, [TAKE])).includes('absolute path')

describe('who is given files', () => {
  it('is the hosted apps of the host, and nobody who only has their name', () => {
    const config = stdioConfig()
    const source = { kind: 'config' } as const
    expect(isMasked(filesOf(), APPS)).toBe(true)
    expect(isMasked(filesOf(), { key: APPS.key, config, source })).toBe(false)
    const elsewhere = hostedAppsRegistration(
      { id: 'apps', order: 0 },
      httpConfig(APPS_URL, {}, { environmentId: 'devbox' }),
    )
    expect(isMasked(filesOf(), elsewhere)).toBe(false)
  })

  it('is a server that the program trusts, by name and environment', () => {
    const config = stdioConfig()
    const source = { kind: 'config' } as const
    const files = filesOf([{ server: 'notes', environment: 'devbox' }])
    expect(isMasked(files, { key: serverKey('notes', 'devbox'), config, source })).toBe(true)
    for (const key of [serverKey('notes'), serverKey('notes', 'other'), serverKey('note', 'devbox')])
      expect(isMasked(files, { key, config, source })).toBe(false)
  })
})
