import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Gateway, type Home, openGateway, openHome, TOKEN } from './gateway/harness.js'
import { connectV2, MODERN, type SdkClient } from './gateway/sdk-clients.js'

let home: Home
let gateway: Gateway
beforeAll(async () => {
  home = await openHome(() => ({ notes: {} }), hooksToml('$HOME/hook.sh'))
  await script('hook.sh', 'cat > /dev/null; cat "$HOME/says.json"')
  gateway = await openGateway(home.reeve)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

function hooksToml(command: string): string {
  const handler = `hooks = [{ type = "command", command = ${JSON.stringify(command)} }]`
  return `[[hooks.PostToolUse]]\nmatcher = ".*echo"\n${handler}\n`
}

async function script(name: string, body: string): Promise<void> {
  const file = join(home.path, name)
  await writeFile(file, `#!/bin/sh\n${body}\n`)
  await chmod(file, 0o755)
}

const says = (answer: object) => writeFile(join(home.path, 'says.json'), JSON.stringify(answer))

describe.each([
  ['legacy', undefined],
  ['modern', { pin: MODERN }],
] as const)('a client of the gateway, %s', (_era, pin) => {
  let client: SdkClient
  beforeAll(async () => {
    client = await connectV2(
      { kind: 'http', url: gateway.url, token: TOKEN },
      { heard: [], onElicit: () => ({ action: 'decline' }) },
      pin,
    )
  })
  afterAll(() => client[Symbol.asyncDispose]())

  it('sees what a hook says to the model behind the content of the server', async () => {
    await says({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'mind the gap' } })
    expect((await client.callTool('notes__echo', { message: 'x' })).content).toMatchObject([
      { type: 'text', text: 'x' },
      { type: 'text', text: 'mind the gap', _meta: { 'reeve/hook_context': true } },
    ])
  })

  it('sees that a hook wants the turn to end', async () => {
    await says({ continue: false, stopReason: 'enough' })
    expect(await client.callTool('notes__echo', { message: 'x' })).toMatchObject({
      content: [{ type: 'text', text: 'enough' }],
      isError: true,
      _meta: { 'reeve/hook_stop': true },
    })
  })
})
