import { describe, expect, it } from 'vitest'
import { httpConfig, stdioConfig } from '../../../../test/fixtures/server-config.js'
import type { ConfiguredServer } from '../../../config/index.js'
import { clientSettings, type Variables } from './client-variables.js'

const servers = (...configs: ReturnType<typeof stdioConfig>[]): { servers: ConfiguredServer[] } => ({
  servers: configs.map((config, index) => ({ name: `s${index}`, config, origin: { file: 'f', layer: 'file' } })),
})

/** A name that any object has. */
const ODD = '__proto__'

/** A client with these variables, which remembers what it was asked for. */
function client(variables: Record<string, string>) {
  const asked: string[][] = []
  return {
    asked,
    ask: async (names: readonly string[]) => {
      asked.push([...names])
      return new Map(Object.entries(variables).filter(([name]) => names.includes(name)))
    },
  }
}

describe("a client's variables", () => {
  it('are the ones that every server gets, of proxies, and those that the configuration names', async () => {
    const { ask, asked } = client({
      HOME: '/h',
      TOKEN: 't',
      BEARER: 'b',
      HEADER: 'x',
      https_proxy: 'p',
      OTHER: 'o',
      TERM: 'xterm',
    })
    const config = servers(
      stdioConfig({ envVars: ['TOKEN', { name: 'FAR', source: 'remote' }] }),
      httpConfig('http://h', { bearerTokenEnvVar: 'BEARER', envHttpHeaders: { 'X-A': 'HEADER' } }),
    )
    const { env } = await clientSettings(async () => config, ask, [])
    expect({ ...env }).toEqual({ HOME: '/h', TOKEN: 't', BEARER: 'b', HEADER: 'x', https_proxy: 'p', TERM: 'dumb' })
    expect(asked).toHaveLength(2)
    expect(asked.flat()).not.toContain('OTHER')
    expect(asked.flat()).not.toContain('FAR')
    expect(asked.flat()).not.toContain('TERM')
  })

  it('are asked for in one round where it is known from last time what the configuration names', async () => {
    const { ask, asked } = client({ TOKEN: 't' })
    const load = async () => servers(stdioConfig({ envVars: ['TOKEN'] }))
    const { names } = await clientSettings(load, ask, [])
    asked.length = 0
    expect((await clientSettings(load, ask, names)).env.TOKEN).toBe('t')
    expect(asked).toHaveLength(1)
  })

  it('are asked for again when a value leads to another name, whatever the name', async () => {
    const { ask, asked } = client({ FIRST: 'SECOND', SECOND: 'x' })
    const load = async (env: Variables) => {
      const next = Object.hasOwn(env, 'FIRST') ? env.FIRST : undefined
      if (next !== undefined) void env[next]
      void env[ODD]
      void Object.hasOwn(env, 'constructor')
      return servers()
    }
    const { env } = await clientSettings(load, ask, [])
    expect(env).toMatchObject({ FIRST: 'SECOND', SECOND: 'x' })
    expect(asked.flat()).toEqual(expect.arrayContaining([ODD, 'constructor']))
    expect(asked).toHaveLength(3)
  })

  it('are not asked for without end', async () => {
    let next = 0
    const load = async (env: Variables) => {
      for (let name = 0; name < 100; name += 1) void env[`N${next++}`]
      return servers()
    }
    await expect(clientSettings(load, client({}).ask, [])).rejects.toMatchObject({ code: 'broker_refused' })
  })
})
