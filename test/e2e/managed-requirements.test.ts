import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { buildCli, type CliHome, cliEnvironment, cliHome, echo, reeveCommand } from './built-cli.js'
import { connectV2 } from './gateway/sdk-clients.js'

beforeAll(() => buildCli())
let home: CliHome
let env: Record<string, string>
beforeEach(async () => {
  home = await cliHome({ free: { ...echo(), default_tools_approval_mode: 'approve' } })
  env = { REEVE_REQUIREMENTS: join(home.folder, 'managed.toml') }
})
afterEach(() => home[Symbol.asyncDispose]())

const requirements = (text: string) => writeFile(join(home.folder, 'managed.toml'), text)
const call = (...more: string[]) => home.reeve(['call', 'free', 'echo', 'message=x', ...more], { env })
const PROMPT = '[approvals.mcp_servers.free.tools.echo]\napproval_mode = "prompt"\n'

describe('requirements', () => {
  it('have a call asked about that the configuration allows, whatever was allowed beforehand', async () => {
    await requirements('')
    expect(await call()).toMatchObject({ code: 0, stdout: 'x\n' })
    await requirements(PROMPT)
    expect(await home.reeve(['approvals', 'allow', 'free', 'echo'], { env })).toMatchObject({ code: 0 })
    expect(await call()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/requires approval.*requirements demand it: .*managed\.toml/),
    })
    expect(await call('--yes')).toMatchObject({ code: 0, stdout: 'x\n' })
  })

  it('have the client of the gateway asked', async () => {
    await requirements(PROMPT)
    const asked: JsonObject[] = []
    await using client = await connectV2(
      { kind: 'stdio', ...reeveCommand('serve', '--stdio'), env: { ...cliEnvironment(home.folder), ...env } },
      {
        heard: [],
        onElicit: (params) => {
          asked.push(params)
          return { action: 'decline' }
        },
      },
    )
    await expect(client.callTool('free__echo', { message: 'x' })).rejects.toThrow('user rejected MCP tool call')
    expect(asked).toMatchObject([{ _meta: { codex_approval_kind: 'mcp_tool_call', tool_name: 'echo' } }])
    expect(asked[0]?._meta).not.toHaveProperty('persist')
  })

  it('refuse what an automatic reviewer would have to judge where there is none', async () => {
    await requirements('[approvals]\nstrict_review = true\n')
    expect(await call('--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('automatic review') })
  })

  it('have every call asked about, and say so, while they are broken', async () => {
    await requirements('[approvals]\nstrict_reviews = true\n')
    expect(await call()).toMatchObject({ code: 1, stderr: expect.stringContaining('requires approval') })
    expect(await home.reeve(['config', 'check'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/managed\.toml.*strict_reviews.*every call is asked for/),
    })
  })

  it('run hooks of their own, which no state of the user ends', async () => {
    const guard = join(home.folder, 'guard.sh')
    await writeFile(guard, '#!/bin/sh\necho "not on this machine" >&2\nexit 2\n')
    await chmod(guard, 0o755)
    const key = `${join(home.folder, 'managed.toml')}:pre_tool_use:0:0`
    await requirements(
      `[[hooks.PreToolUse]]\nmatcher = ".*echo"\nhooks = [{ type = "command", command = ${JSON.stringify(guard)} }]\n`,
    )
    const config = join(home.folder, 'config.toml')
    await writeFile(config, `[hooks.state.${JSON.stringify(key)}]\nenabled = false\n`, { flag: 'a' })
    await using client = await connectV2(
      { kind: 'stdio', ...reeveCommand('serve', '--stdio'), env: { ...cliEnvironment(home.folder), ...env } },
      { heard: [] },
    )
    await expect(client.callTool('free__echo', { message: 'x' })).rejects.toThrow('not on this machine')
    expect(await client.callTool('free__add', { a: 1, b: 2 })).toMatchObject({ content: [{ text: '3' }] })
  })
})
