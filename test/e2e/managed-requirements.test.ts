import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BrokerHome } from './broker/home.js'
import { buildCli, type CliHome, cliEnvironment, cliHome, echo, printed, reeveCommand } from './built-cli.js'
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
    expect(await home.reeve(['approvals', 'allow', 'free', 'echo'], { env })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/it does not count as long as requirements .*managed\.toml/),
    })
    expect(await call()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/requires approval.*requirements demand it: .*managed\.toml/),
    })
    expect(await call('--yes')).toMatchObject({ code: 0, stdout: 'x\n' })
  })

  it('have the client of the gateway asked', async () => {
    await requirements(PROMPT)
    const asked: unknown[] = []
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
    expect(asked[0]).not.toHaveProperty('_meta.persist')
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

  it('are not got round by a hook of the user that allows, and one that has to answer blocks while it is broken', async () => {
    await requirements(PROMPT)
    const allow = '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'
    const config = join(home.folder, 'config.toml')
    const before = await readFile(config, 'utf8')
    const hooked = async (toml: string) => {
      await writeFile(config, `${before}\n${toml}`)
      await using client = await connectV2(
        { kind: 'stdio', ...reeveCommand('serve', '--stdio'), env: { ...cliEnvironment(home.folder), ...env } },
        { heard: [], onElicit: () => ({ action: 'decline' }) },
      )
      return await client.callTool('free__echo', { message: 'x' })
    }
    const allowing = `[[hooks.PermissionRequest]]\nhooks = [{ type = "command", command = ${JSON.stringify(`echo '${allow}'`)} }]\n`
    await expect(hooked(allowing)).rejects.toThrow('user rejected')
    await requirements('')
    const broken =
      '[[hooks.PreToolUse]]\nmatcher = "("\nhooks = [{ type = "command", command = "true", on_failure = "block" }]\n'
    await expect(hooked(broken)).rejects.toThrow(/its configuration is broken: .*config\.toml/)
    expect(await hooked(broken.replace('"block"', '"allow"'))).toMatchObject({ content: [{ text: 'x' }] })
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
      { heard: [], onElicit: () => ({ action: 'decline' }) },
    )
    await expect(client.callTool('free__echo', { message: 'x' })).rejects.toThrow('not on this machine')
    expect(await client.callTool('free__add', { a: 1, b: 2 })).toMatchObject({ content: [{ text: '3' }] })
  })

  it('run hooks of their own around `reeve call`, with and without the broker', async () => {
    const block = '[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "echo not here >&2; exit 2" }]\n'
    await requirements(block)
    const refused = { code: 1, stderr: expect.stringContaining('not here') }
    expect(await call('--yes')).toMatchObject(refused)
    await using brokered = await BrokerHome.make()
    expect(await brokered.reeve(['call', 'notes', 'echo', 'message=x'], { env })).toMatchObject(refused)
    expect([brokered.brokers().length, brokered.recorded('notes').includes('tools/call')]).toEqual([1, false])
  })

  it('narrow what servers are told of permissions, and say so', async () => {
    await requirements('allowed_sandbox_modes = ["read-only"]\n')
    expect(await home.reeve(['doctor'], { env })).toMatchObject({ stdout: expect.not.stringContaining('not_allowed') })
    const config = join(home.folder, 'config.toml')
    await writeFile(config, `sandbox_mode = "workspace-write"\n${await readFile(config, 'utf8')}`)
    const { stdout } = await home.reeve(['--json', 'doctor'], { env })
    expect(stdout).toMatch(/"profile_not_allowed"/)
    expect(stdout).toMatch(/allowed_sandbox_modes of [^"]*managed\.toml/)
    const asked = home.start(['serve', '--stdio', '--private', '--permissions', ':danger-full-access'], { env })
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    asked.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
    asked.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
    expect(await printed(asked, /goes beyond allowed_sandbox_modes of \S+managed\.toml/)).not.toBeNull()
  })
})
