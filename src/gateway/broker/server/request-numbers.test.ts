import { describe, expect, it } from 'vitest'
import { isRequest, type JsonRpcMessage } from '../../../protocol/index.js'
import { RequestNumbers } from './request-numbers.js'

const request = (id: number, progressToken?: number): JsonRpcMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'elicitation/create',
  params: { message: '?', ...(progressToken !== undefined && { _meta: { progressToken, mine: 1 } }) },
})

describe('numbers of requests', () => {
  it('are those of the broker in a session’s first life', () => {
    const numbers = new RequestNumbers(0)
    const message = request(1, 1)
    expect(numbers.outgoing(message)).toBe(message)
    expect(numbers.incoming({ jsonrpc: '2.0', id: 1, result: {} })).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })

  it('begin elsewhere in each later one, there and back, with their cancellation and progress', () => {
    const [second, third] = [new RequestNumbers(1), new RequestNumbers(2)]
    const sent = second.outgoing(request(1, 1))
    expect(sent).not.toEqual(third.outgoing(request(1, 1)))
    if (!isRequest(sent) || typeof sent.id !== 'number') throw new Error('it is no request any more')
    const { id, params } = sent
    expect(id).toBeGreaterThan(1)
    expect(params?._meta).toEqual({ progressToken: id, mine: 1 })
    expect(second.incoming({ jsonrpc: '2.0', id, result: {} })).toMatchObject({ id: 1 })
    const progress: JsonRpcMessage = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id } }
    expect(second.incoming(progress)).toMatchObject({ params: { progressToken: 1 } })
    const cancel: JsonRpcMessage = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    expect(second.outgoing(cancel)).toMatchObject({ params: { requestId: id } })
  })

  it('of others stay as they are: of an earlier life, of the client, of a server’s own token', () => {
    const numbers = new RequestNumbers(1)
    for (const message of [
      { jsonrpc: '2.0', id: 3, result: {} },
      { jsonrpc: '2.0', id: 'text', result: {} },
      { jsonrpc: '2.0', id: 4, method: 'tools/list' },
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'text' } },
    ] as JsonRpcMessage[])
      expect(numbers.incoming(message)).toEqual(message)
    expect(numbers.outgoing(request(1, 77))).toMatchObject({ params: { _meta: { progressToken: 77 } } })
    const answer: JsonRpcMessage = { jsonrpc: '2.0', id: 5, result: {} }
    expect(numbers.outgoing(answer)).toBe(answer)
  })
})
