import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { captureCli } from '../../../test/captured-cli.js'
import { serverKey } from '../../identity/index.js'
import type { Cli } from '../cli.js'
import { askApproval } from './approval.js'

const request = {
  ...{ threadId: 'thread', turnId: null, callId: 'call', multiEnvironment: true },
  ...{ key: serverKey('notes'), tool: 'drop\u001b[2J', definition: {}, arguments: { all: true }, offers: [] },
}

function atTerminal(): { cli: Cli; type: (text: string) => void; stderr: () => string } {
  const { cli, stderr } = captureCli({ home: '/nowhere' })
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  return { cli: { ...cli, stdin }, type: (text) => void stdin.write(text), stderr }
}

describe('a call that needs an approval', () => {
  it.each([
    ['y\n', 'approve'],
    ['YES\n', 'approve'],
    ['n\n', 'decline'],
    ['\n', 'decline'],
    ['yeah\n', 'decline'],
  ])('is asked about at the terminal: %j means %s', async (answer, expected) => {
    const { cli, type, stderr } = atTerminal()
    const asked = askApproval(cli, false)?.(request, undefined)
    type(answer)
    expect(await asked).toBe(expected)
    expect(stderr()).toContain('notes / drop\\x1b[2J\n  {"all":true}\nRun it? [y/N]')
  })

  it('is allowed for good only where that is offered', async () => {
    for (const [offers, expected] of [
      [['session', 'always'], 'approve_always'],
      [['session'], 'decline'],
    ] as const) {
      const { cli, type } = atTerminal()
      const asked = askApproval(cli, false)?.({ ...request, offers }, undefined)
      type('always\n')
      expect(await asked).toBe(expected)
    }
  })

  it('is declined when it is given up meanwhile', async () => {
    const { cli } = atTerminal()
    const controller = new AbortController()
    const asked = askApproval(cli, false)?.(request, controller.signal)
    controller.abort()
    expect(await asked).toBe('decline')
  })

  it('is nobody to ask for where stdin is no terminal, and needs none with --yes', async () => {
    const { cli } = captureCli({ home: '/nowhere' })
    expect(askApproval(cli, false)).toBeUndefined()
    expect(await askApproval(cli, true)?.(request, undefined)).toBe('approve')
  })
})
