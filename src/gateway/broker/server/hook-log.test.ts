import { expect, it } from 'vitest'
import type { HookReport, HookRun } from '../../../authority/index.js'
import { hookLog } from './hook-log.js'

const RUN: HookRun = {
  id: 'pre-tool-use:0:/work/config.toml:call',
  eventName: 'preToolUse',
  handlerType: 'command',
  executionMode: 'sync',
  scope: 'turn',
  sourcePath: '/work/config.toml',
  source: 'project',
  displayOrder: 0,
  status: 'completed',
  statusMessage: null,
  startedAt: 0,
  completedAt: 1,
  durationMs: 1,
  entries: [],
}

const completed = (run: Partial<HookRun>): HookReport => ({
  type: 'hook/completed',
  threadId: 'thread',
  turnId: null,
  run: { ...RUN, ...run },
})

it('warns of a hook that fails once until it is well again, and never says what it tells the model', () => {
  const warned: unknown[] = []
  const log = hookLog({ debug: () => undefined, info: () => undefined, warn: (...args) => warned.push(args) })
  const fails = completed({ status: 'failed', entries: [{ kind: 'error', text: 'hook exited with code 127' }] })
  log({ ...fails, type: 'hook/started' })
  expect(warned).toEqual([])
  log(fails)
  log(fails)
  const facts = { event: 'preToolUse', source: '/work/config.toml', number: 1 }
  expect(warned).toEqual([[facts, 'a hook failed: hook exited with code 127']])
  log(completed({ entries: [{ kind: 'context', text: 'for the model' }] }))
  log(completed({ displayOrder: 1, status: 'blocked', entries: [{ kind: 'feedback', text: 'no' }] }))
  log(fails)
  log(completed({ displayOrder: 2, status: 'failed' }))
  expect(warned).toHaveLength(3)
})
