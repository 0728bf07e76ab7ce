import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../load.js'

it('loads the files that the guide shows', async () => {
  const guide = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'environments.md'), 'utf8')
  const [environments, servers, ...others] = [...guide.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, text]) => text)
  expect(others).toEqual([])
  const home = mkdtempSync(join(tmpdir(), 'reeve-guide-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  writeFileSync(join(home, 'environments.toml'), environments ?? '')
  writeFileSync(join(home, 'config.toml'), servers ?? '')
  const loaded = await loadConfig({ home, cwd: home, env: {} })
  expect(loaded.problems).toEqual([])
  expect(loaded.environments.entries.map(({ id }) => id)).toEqual(['devbox', 'box'])
  expect(loaded.environments.defaultSelection).toEqual(['devbox', 'local', 'box'])
  expect(loaded.servers.map(({ name, config }) => [name, config.environmentId])).toEqual([
    ['build', 'devbox'],
    ['internal', 'devbox'],
  ])
})
