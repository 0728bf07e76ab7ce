import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { buildCli, type CliHome, cliHome, echo, printed } from './built-cli.js'
import { RawSession } from './gateway/raw-http.js'

beforeAll(() => buildCli())
let home: CliHome
beforeEach(async () => {
  home = await cliHome({ echo: echo('--start-delay', '300') })
})
afterEach(() => home[Symbol.asyncDispose]())

async function client(): Promise<RawSession> {
  const program = home.start(['serve', '--http', '127.0.0.1:0'])
  const [, url = ''] = await printed(program, /^endpoint\s+(http:\S+)$/m)
  const [, token = ''] = await printed(program, /REEVE_TOKEN=(\S+)$/m)
  return RawSession.open(url, { token })
}

it('lets a client call what it was shown from the cache, where a cached hint was left out', async () => {
  // Fills the cache.
  const first = await client()
  expect(await (await first.request('tools/list', {})).json()).toMatchObject({ result: {} })
  const session = await client()
  const { result } = (await (await session.request('tools/list', {})).json()) as {
    result: { tools: { name: string; annotations?: object }[] }
  }
  // As its server has it, the tool reads only.
  expect(result.tools.find(({ name }) => name === 'echo__add')?.annotations).toEqual({})
  const answer = await session.request('tools/call', { name: 'echo__add', arguments: { a: 1, b: 2 } })
  expect(await answer.json()).toMatchObject({ result: { content: [{ text: '3' }] } })
})
