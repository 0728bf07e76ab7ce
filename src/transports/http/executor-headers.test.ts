import { describe, expect, it } from 'vitest'
import type { HttpServer } from '../../config/index.js'
import { environmentId } from '../../identity/index.js'
import { executorCredentials, withExecutorHeaders } from './executor-headers.js'

function server(members: Partial<HttpServer>): HttpServer {
  return {
    type: 'streamable_http',
    url: 'http://127.0.0.1/mcp',
    auth: 'oauth',
    httpHeaders: {},
    envHttpHeaders: {},
    ...members,
  }
}

function executor(httpHeaderEnvVars?: boolean) {
  const asked: number[] = []
  return {
    asked,
    id: environmentId('devbox'),
    info: async () => {
      asked.push(1)
      const capabilities = httpHeaderEnvVars === undefined ? {} : { capabilities: { httpHeaderEnvVars } }
      return { shell: { name: 'sh', path: '/bin/sh' }, ...capabilities }
    },
  }
}

describe('the variables of a server that an executor reaches', () => {
  it('are named to the executor, the bearer over a configured Authorization', async () => {
    const members = server({
      bearerTokenEnvVar: 'NOTES_TOKEN',
      envHttpHeaders: { 'X-Team': 'TEAM', authorization: 'OTHER' },
    })
    expect((await executorCredentials(members, executor(true), 'notes')).headers).toEqual([
      { name: 'X-Team', prefix: '', variable: 'TEAM' },
      { name: 'Authorization', prefix: 'Bearer ', variable: 'NOTES_TOKEN' },
    ])
  })

  it.each([undefined, false])('are refused by an executor that says %j of them', async (capability) => {
    const failing = executorCredentials(server({ bearerTokenEnvVar: 'NOTES_TOKEN' }), executor(capability), 'notes')
    await expect(failing).rejects.toMatchObject({ code: 'unsupported', data: { environment: 'devbox' } })
  })

  it('are not asked for where there are none', async () => {
    const none = executor()
    expect((await executorCredentials(server({}), none, 'notes')).headers).toEqual([])
    expect(none.asked).toEqual([])
  })

  it('leave out a header that nothing can carry, with a warning', async () => {
    const given = await executorCredentials(server({ envHttpHeaders: { 'X Y': 'A' } }), executor(true), 'notes')
    expect(given.headers).toEqual([])
    expect(given.warnings.map(({ place }) => place)).toEqual(['notes env_http_headers.X Y'])
  })
})

describe('withExecutorHeaders', () => {
  const added = [
    { name: 'user-agent', prefix: '', variable: 'AGENT' },
    { name: 'Accept', prefix: '', variable: 'ACCEPT' },
  ]

  it('keeps what belongs to the protocol and replaces what is there by default', () => {
    expect(
      withExecutorHeaders(
        [
          ['User-Agent', 'reeve'],
          ['Accept', 'application/json'],
        ],
        added,
      ),
    ).toEqual({ headers: [['Accept', 'application/json']], executorHeaders: [added[0]] })
  })
})
