import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadConfig } from './load.js'

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'reeve-app-policy-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function load(text: string) {
  await writeFile(join(home, 'config.toml'), text)
  return loadConfig({ home, cwd: home, env: {} })
}

it('reads what is said of each app, and of all others', async () => {
  const { apps, problems } = await load(`
[apps._default]
destructive_enabled = false
[apps.connector_1]
enabled = true
open_world_enabled = false
default_tools_enabled = false
default_tools_approval_mode = "prompt"
[apps.connector_1.tools."files/list"]
enabled = true
approval_mode = "approve"
`)
  expect(problems).toEqual([])
  expect([...apps]).toEqual([
    ['_default', { destructiveEnabled: false, tools: new Map() }],
    [
      'connector_1',
      {
        enabled: true,
        openWorldEnabled: false,
        defaultToolsEnabled: false,
        defaultToolsApprovalMode: 'prompt',
        tools: new Map([['files/list', { enabled: true, approvalMode: 'approve' }]]),
      },
    ],
  ])
})

it('names what can’t be read of it, which is off then, and keeps the rest', async () => {
  const { apps, problems } = await load(`
[apps.__proto__]
enabled = false
[apps.odd]
enabled = "no"
[apps.close]
enabeld = false
`)
  expect(apps.get('__proto__')).toMatchObject({ enabled: false })
  expect(apps.get('odd')).toMatchObject({ enabled: false })
  expect(problems).toMatchObject([
    { severity: 'error', path: ['apps', 'odd', 'enabled'] },
    { severity: 'warning', message: expect.stringContaining('did you mean `enabled`') },
  ])
  const none = await load('apps = 5\n')
  expect(none.apps.get('_default')).toMatchObject({ enabled: false })
  expect(none.problems).toMatchObject([{ severity: 'error', path: ['apps'] }])
})
