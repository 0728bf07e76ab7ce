import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildCli, type CliHome, cliHome, echo, printed } from './built-cli.js'

let home: CliHome
beforeAll(async () => {
  await buildCli()
  home = await cliHome({
    notes: echo(),
    plain: echo('--no-resources', '--no-prompts', '--only-echo'),
    broken: { command: join('/nowhere', 'to-be-found') },
    off: { ...echo(), enabled: false },
    asking: { ...echo(), default_tools_approval_mode: 'prompt' },
  })
})
afterAll(() => home[Symbol.asyncDispose]())

describe('reeve call', () => {
  it('types key=value by the schema, and prints text as it is', async () => {
    const { code, stdout } = await home.reeve(['call', 'notes', 'echo', 'message=hello = world'])
    expect(stdout).toBe('hello = world\n')
    expect(code).toBe(0)
  })

  it('prints structured content beside text that says something else, and whole results with --json', async () => {
    const sum = await home.reeve(['call', 'notes', 'add', 'a=2', 'b=0.5'])
    expect(sum.stdout).toBe('2.5\n{\n  "sum": 2.5\n}\n')
    const json = await home.reeve(['call', 'notes', 'add', 'a=2', 'b=0.5', '--json'])
    expect(JSON.parse(json.stdout)).toEqual({
      content: [{ type: 'text', text: '2.5' }],
      structuredContent: { sum: 2.5 },
    })
  })

  it('takes a JSON object from --input or stdin, with pairs laid over it', async () => {
    const input = await home.reeve(['call', 'notes', 'add', '--input', '{"a":1,"b":1}', 'b=4'])
    expect(input.stdout).toContain('"sum": 5')
    const stdin = await home.reeve(['call', 'notes', 'add', '-'], { stdin: '{"a":20,"b":1}' })
    expect(stdin.stdout).toContain('"sum": 21')
  })

  it('names what is missing, mistyped or unknown before anything is called', async () => {
    const missing = await home.reeve(['call', 'notes', 'add', 'a=1'])
    expect(missing).toMatchObject({ code: 2, stdout: '' })
    expect(missing.stderr).toContain("missing required argument 'b' (number)")
    expect((await home.reeve(['call', 'notes', 'add', 'a=one', 'b=2'])).stderr).toContain("'a' must be a number")
    const tool = await home.reeve(['call', 'notes', 'ehco', 'message=x'])
    expect(tool).toMatchObject({ code: 1 })
    expect(tool.stderr).toContain("offers no tool 'ehco'. Did you mean 'echo'?")
    expect((await home.reeve(['call', 'notes', 'notes__echo'])).stderr).toContain("The server calls it 'echo'")
    const server = await home.reeve(['call', 'nots', 'echo', 'message=x', '--json'])
    expect(server).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(server.stderr).error).toMatchObject({
      code: 'unknown_server',
      server: 'nots',
      data: { suggestion: 'notes' },
    })
  })

  it('ends with 1 when the tool reports an error, and tells JSON-RPC errors whole', async () => {
    const failed = await home.reeve(['call', 'notes', 'fails', 'message=no luck'])
    expect(failed).toMatchObject({ code: 1, stdout: 'no luck\n' })
    const refused = await home.reeve(['call', 'notes', 'rpc_error', 'code=-32050', '--json'])
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'rpc_error', server: 'notes' })
  })

  it('streams progress on stderr', async () => {
    const { stdout, stderr } = await home.reeve(['call', 'notes', 'progress', 'steps=3'])
    expect(stdout).toBe('3 steps\n')
    for (const line of ['progress  1/3  step 1', 'progress  3/3  step 3']) expect(stderr).toContain(line)
    expect((await home.reeve(['-q', 'call', 'notes', 'progress', 'steps=3'])).stderr).toBe('')
  })

  it('saves media where asked, and only names them otherwise', async () => {
    const named = await home.reeve(['call', 'notes', 'media'])
    expect(named.stdout).toContain('[image: image/png, ')
    expect(named.stdout).toContain('echo://greeting')
    const saved = await home.reeve(['call', 'notes', 'media', '--output', 'saved'])
    expect(saved.stdout).toContain(join(home.folder, 'saved', 'media.png'))
    expect(readdirSync(join(home.folder, 'saved')).sort()).toEqual(['media.png', 'media.wav'])
    expect(
      readFileSync(join(home.folder, 'saved', 'media.png'))
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG')
  })

  it('gives up after --timeout', async () => {
    const { code, stderr } = await home.reeve(['call', 'notes', 'hang', '--timeout', '0.3'])
    expect(code).toBe(1)
    expect(stderr).toContain('timed out awaiting')
  })

  it('ends the server and exits with 130 at Ctrl-C', async () => {
    const program = home.start(['--log-level', 'info', 'call', 'notes', 'hang'])
    await printed(program, /server ready/)
    program.child.kill('SIGINT')
    expect(await program.exited).toEqual({ code: 130, signal: null })
    expect(readdirSync(join(home.folder, 'run')).filter((name) => name.endsWith('.json'))).toEqual([])
  })

  it('says why a server cannot be used', async () => {
    const { code, stderr } = await home.reeve(['call', 'broken', 'echo', 'message=x'])
    expect(code).toBe(1)
    expect(stderr).toContain('no such program')
    expect((await home.reeve(['call', 'off', 'echo', 'message=x'])).code).toBe(1)
  })

  it('calls a tool that the configuration asks about only with --yes where nobody can be asked', async () => {
    const refused = await home.reeve(['call', 'asking', 'echo', 'message=x'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('approval')
    expect(await home.reeve(['call', 'asking', 'echo', 'message=x', '--yes'])).toMatchObject({ code: 0, stdout: 'x\n' })
  })
})

describe('reeve resources and read', () => {
  it('lists resources and templates of one server or of all, naming servers that failed', async () => {
    const one = await home.reeve(['resources', 'notes'])
    expect(one.code).toBe(0)
    expect(one.stdout).toMatch(/^notes\s+echo:\/\/greeting\s+text\/plain\s+Greeting/m)
    expect(one.stdout).toContain('echo://say/{text}')
    const all = await home.reeve(['resources', '--json'])
    expect(all.code).toBe(1)
    const { resources, resource_templates, failures } = JSON.parse(all.stdout)
    expect(resources).toContainEqual({
      server: 'notes',
      environment_id: null,
      resource: expect.objectContaining({ uri: 'echo://greeting', 'x-unknown': 'kept' }),
    })
    expect(resource_templates.map(({ server }: { server: string }) => server)).toEqual(['asking', 'notes'])
    expect(failures).toMatchObject([{ server: 'broken' }])
  })

  it('lists nothing, and is fine, for a server without resources', async () => {
    expect(await home.reeve(['resources', 'plain'])).toMatchObject({ code: 0, stdout: '' })
  })

  it('reads text as it is and blobs into a folder', async () => {
    expect(await home.reeve(['read', 'notes', 'echo://greeting'])).toMatchObject({ code: 0, stdout: 'hello\n' })
    expect((await home.reeve(['read', 'notes', 'echo://pixel'])).stdout).toContain('save it with --output DIR')
    await home.reeve(['read', 'notes', 'echo://pixel', '--output', 'pixels'])
    expect(existsSync(join(home.folder, 'pixels', 'pixel.png'))).toBe(true)
    expect((await home.reeve(['read', 'notes', 'echo://nothing'])).code).toBe(1)
  })
})

describe('reeve prompts and prompt', () => {
  it('lists prompts with their arguments', async () => {
    const { stdout } = await home.reeve(['prompts', 'notes'])
    expect(stdout).toMatch(/^notes\s+review\s+file \[tone\]/m)
  })

  it('prints messages under their roles', async () => {
    const { code, stdout } = await home.reeve(['prompt', 'notes', 'review', 'file=a.ts', 'tone=dry'])
    expect(stdout).toBe('user:\nReview a.ts in a dry tone.\n')
    expect(code).toBe(0)
  })

  it('names arguments that are missing or unknown, and prompts that are', async () => {
    expect((await home.reeve(['prompt', 'notes', 'review'])).stderr).toContain("missing required argument 'file'")
    expect((await home.reeve(['prompt', 'notes', 'review', 'flie=x'])).stderr).toContain("Did you mean 'file'?")
    expect((await home.reeve(['prompt', 'notes', 'reviw'])).stderr).toContain("Did you mean 'review'?")
  })
})
