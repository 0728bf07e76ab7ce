import { describe, expect, it } from 'vitest'
import { modelCallMembers, type TurnFacts, turnOf, withoutTurnMembers } from './turn-meta.js'

const TURN = { metadata: { model: 'm', turn_id: 'turn-1' } }
const IDS = { threadId: 't1' }

describe('the members of a model call', () => {
  it('stand in the order of the reference', () => {
    const facts = { itemId: 'fc_1', callId: 'call_1' }
    const members = modelCallMembers(turnOf('t1', TURN), facts, { threadId: 't1', plugin_id: 'demo@a' })
    expect(JSON.stringify(members)).toBe(
      JSON.stringify({
        callId: 'call_1',
        'x-codex-turn-metadata': { session_id: 't1', thread_id: 't1', model: 'm', turn_id: 'turn-1' },
        plugin_id: 'demo@a',
        threadId: 't1',
        sessionId: 't1',
        windowId: 't1:0',
        itemId: 'fc_1',
      }),
    )
  })

  it('leave out what nobody knows', () => {
    expect(Object.keys(modelCallMembers(turnOf('t1', {}), {}, IDS))).toEqual([
      'x-codex-turn-metadata',
      'threadId',
      'sessionId',
      'windowId',
    ])
  })

  it('name the session and the window that the host names, and never a thread of its choice', () => {
    const turn = turnOf('t1', {
      metadata: { thread_id: 'other', session_id: 'other', model: 'm' },
      sessionId: 's1',
      window: 2,
    })
    expect(modelCallMembers(turn, {}, IDS)).toEqual({
      'x-codex-turn-metadata': { session_id: 's1', thread_id: 't1', model: 'm' },
      threadId: 't1',
      sessionId: 's1',
      windowId: 't1:2',
    })
  })

  it('say of one call only that a person was asked before it', () => {
    const turn = turnOf('t1', TURN)
    const [after, plain] = [{ userInputRequested: true }, {}].map((facts) => modelCallMembers(turn, facts, IDS))
    expect(after?.['x-codex-turn-metadata']).toEqual({
      ...turn.metadata,
      user_input_requested_during_turn: true,
    })
    expect(plain?.['x-codex-turn-metadata']).toEqual(turn.metadata)
  })

  it('refuse ids that are no text', () => {
    const turn = turnOf('t1', TURN)
    for (const name of ['callId', 'itemId']) {
      const facts: object = { [name]: 7 }
      expect(() => modelCallMembers(turn, facts, IDS)).toThrowError(
        expect.objectContaining({ code: 'invalid_arguments', place: `call.${name}` }),
      )
    }
  })
})

describe('the facts of a turn', () => {
  it('are those of the moment when they were given, and stay so', () => {
    const metadata = { model: 'm', deep: { list: [1] } }
    const turn = turnOf('t1', { metadata })
    metadata.deep.list.push(2)
    metadata.model = 'other'
    expect(turn.metadata).toEqual({ session_id: 't1', thread_id: 't1', model: 'm', deep: { list: [1] } })
    for (const part of [turn, turn.metadata, turn.metadata.deep]) expect(Object.isFrozen(part)).toBe(true)
  })

  it('carry a member called __proto__ as data', () => {
    const turn = turnOf('t1', { metadata: JSON.parse('{"__proto__":{"admin":true}}') })
    expect(JSON.stringify(turn.metadata)).toContain('"__proto__":{"admin":true}')
    expect(Reflect.get(turn.metadata, 'admin')).toBeUndefined()
  })

  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  const refused: readonly (readonly [string, object])[] = [
    ['turn.metadata', { metadata: 'text' }],
    ['turn.metadata', { metadata: [] }],
    ['turn.metadata', { metadata: cyclic }],
    ['turn.metadata', { metadata: { big: 1n } }],
    ['turn.metadata', { metadata: { toJSON: () => 'text' } }],
    ['turn.sessionId', { sessionId: 7 }],
    ['turn.window', { window: 1.5 }],
    ['turn.window', { window: -1 }],
    ['turn', []],
  ]
  for (const [index, [place, facts]] of refused.entries()) {
    it(`are refused where they can't be sent: ${place}, ${index}`, () => {
      expect(() => turnOf('t1', facts as TurnFacts)).toThrowError(
        expect.objectContaining({ code: 'invalid_arguments', place }),
      )
    })
  }
})

describe('what a caller says', () => {
  it('is kept but for what only the runtime says', () => {
    const caller = {
      mine: 1,
      callId: 'x',
      'x-codex-turn-metadata': {},
      plugin_id: 'x',
      threadId: 'x',
      sessionId: 'x',
      windowId: 'x',
      itemId: 'x',
      yours: 2,
    }
    expect(JSON.stringify(withoutTurnMembers(caller))).toBe('{"mine":1,"yours":2}')
    expect(withoutTurnMembers(undefined)).toBeUndefined()
  })
})
