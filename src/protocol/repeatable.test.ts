import { expect, it } from 'vitest'
import { isHandshake, isRead, isRepeatable } from './repeatable.js'

it('repeats what reads, and what sets what is set', () => {
  for (const method of ['ping', 'tools/list', 'resources/read', 'prompts/get'])
    expect([method, isRead(method), isRepeatable(method)]).toEqual([method, true, true])
  for (const method of ['resources/subscribe', 'completion/complete', 'logging/setLevel'])
    expect([method, isRead(method), isRepeatable(method)]).toEqual([method, false, true])
})

it('never repeats a tool call, nor what it has not heard of', () => {
  for (const method of ['tools/call', 'tasks/cancel', 'unheard/of', 'constructor', ''])
    expect([method, isRead(method), isRepeatable(method), isHandshake(method)]).toEqual([method, false, false, false])
})

it('leaves handshakes to who conducts the conversation', () => {
  for (const method of ['initialize', 'server/discover'])
    expect([method, isHandshake(method), isRepeatable(method)]).toEqual([method, true, false])
})
