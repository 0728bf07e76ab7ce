import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReeveError } from '../../errors.js'
import { environmentInfoOf } from './answers.js'
import { processEventOf, replayed } from './events.js'
import { HttpBody } from './http-body.js'
import { Link } from './link.js'
import { EventSequence } from './sequence.js'
import type { Wire } from './wire.js'

/** Anything JSON can say, and often something close to the truth. */
const anything = fc.jsonValue()
const params = fc.oneof(
  anything,
  fc.record(
    {
      processId: fc.oneof(fc.constant('p'), anything),
      seq: fc.oneof(fc.integer({ min: -1, max: 9 }), anything),
      stream: fc.oneof(fc.constantFrom('stdout', 'stderr', 'pty'), anything),
      chunk: fc.oneof(fc.base64String(), anything),
      exitCode: fc.oneof(fc.integer(), anything),
      chunks: fc.oneof(fc.array(anything), anything),
      nextSeq: anything,
      exited: fc.oneof(fc.boolean(), anything),
      closed: fc.oneof(fc.boolean(), anything),
      deltaBase64: fc.oneof(fc.base64String(), anything),
      done: fc.oneof(fc.boolean(), anything),
      error: anything,
      shell: anything,
      capabilities: anything,
    },
    { requiredKeys: [] },
  ),
)
const method = fc.oneof(fc.constantFrom('process/output', 'process/exited', 'process/closed'), fc.string())
const message = fc.oneof(
  anything,
  fc.record(
    { id: anything, method: fc.oneof(method, anything), params, result: anything, error: anything },
    { requiredKeys: [] },
  ),
)

/** Only what is meant to be raised may be. */
function typed(step: () => unknown): void {
  try {
    step()
  } catch (error) {
    expect(error).toBeInstanceOf(ReeveError)
  }
}

describe('whatever an executor says', () => {
  it('events, replays, bodies and descriptions raise typed errors at most', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(method, params)), (said) => {
        const sequence = new EventSequence('x')
        const body = new HttpBody({ place: 'x', pause: () => true, resume: () => {}, onend: () => {} })
        for (const [name, value] of said) {
          typed(() => {
            const event = processEventOf(name, value, 'p', 'x')
            if (event !== undefined) sequence.accept(event)
          })
          typed(() => replayed(value, sequence, 'x'))
          typed(() => body.delta(value))
          typed(() => environmentInfoOf(value, 'x'))
        }
      }),
    )
  })

  it('a link answers its calls, or fails them with typed errors', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            message.map((value) => JSON.stringify(value)),
            fc.string(),
          ),
        ),
        async (texts) => {
          const wire = silentWire()
          const connector = { place: 'x', resumable: false, open: async () => wire }
          const link = new Link(wire, { environment: 'x', connector, clientName: 'test' })
          const call = link.call('environment/status', {}).catch((error: unknown) => error)
          for (const text of texts) wire.onmessage(text)
          await link.close()
          const answer = await call
          if (answer instanceof Error) expect(answer).toBeInstanceOf(ReeveError)
          expect(link.open).toBe(false)
          expect(await link.lost).toBeInstanceOf(ReeveError)
        },
      ),
    )
  })
})

function silentWire(): Wire {
  return {
    onmessage: () => {},
    closed: new Promise(() => {}),
    send: async () => {},
    pause: () => true,
    resume: () => {},
    drop: () => {},
    close: async () => {},
  }
}
