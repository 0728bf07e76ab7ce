import { expect, it } from 'vitest'
import { serverKey } from '../../identity/index.js'
import { Questions } from '../relay/environment-questions.js'
import { sift } from './task-questions.js'

const key = serverKey('notes', 'devbox')

/** Of a thread whose servers are all where they belong. */
function questions(named = true): Questions {
  const made = new Questions({ named, workspaceOf: () => '/srv/app' })
  const thread = { servers: () => [], environments: [] }
  made.of(Promise.resolve(Object.assign(Object.create(null), thread)))
  return made
}

const elicitation = { method: 'elicitation/create', params: { message: 'Sure?' } }

it('leaves a task without questions as it is', async () => {
  const task = { taskId: 't', status: 'working' }
  expect(await sift(questions(), key, task)).toEqual({ shown: task })
})

it('answers for the folders there, and shows the client what is its own to answer', async () => {
  const task = { taskId: 't', status: 'input_required', inputRequests: { a: { method: 'roots/list' }, b: elicitation } }
  expect(await sift(questions(), key, task)).toEqual({
    shown: {
      taskId: 't',
      status: 'input_required',
      inputRequests: {
        b: {
          method: 'elicitation/create',
          params: { message: 'notes (environment devbox): Sure?', _meta: { 'reeve/environment_id': 'devbox' } },
        },
      },
    },
    answers: { a: { roots: [{ uri: 'file:///srv/app', name: 'app (devbox)' }] } },
  })
})

it('shows a task that only waited for this side as one that goes on', async () => {
  const task = { taskId: 't', status: 'input_required', inputRequests: { a: { method: 'roots/list' } } }
  expect((await sift(questions(), key, task)).shown).toEqual({ taskId: 't', status: 'working' })
})

it('takes the questions of a server of this machine to the client as they are', async () => {
  const task = { taskId: 't', inputRequests: { a: { method: 'roots/list' }, b: elicitation, c: 'odd' } }
  expect(await sift(questions(), serverKey('notes'), task)).toEqual({ shown: task })
})
