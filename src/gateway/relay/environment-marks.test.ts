import { describe, expect, it } from 'vitest'
import { serverKey } from '../../identity/index.js'
import {
  ENVIRONMENT_META,
  markItem,
  markParams,
  markQuestion,
  markResource,
  namedEnvironment,
  withoutMark,
} from './environment-marks.js'

const scoped = serverKey('notes', 'devbox')
const shared = serverKey('notes')

describe('what a scoped server lists', () => {
  it('names its environment in titles, in front of the description and in _meta', () => {
    const item = {
      name: 'add',
      title: 'Add a note',
      description: 'Adds.',
      annotations: { title: 'Adding', readOnlyHint: false },
      _meta: { 'com.example/kept': 1 },
      unknown: { kept: true },
    }
    expect(markItem(scoped, item)).toEqual({
      name: 'add',
      title: 'Add a note (devbox)',
      description: 'Environment: devbox\nAdds.',
      annotations: { title: 'Adding (devbox)', readOnlyHint: false },
      _meta: { 'com.example/kept': 1, [ENVIRONMENT_META]: 'devbox' },
      unknown: { kept: true },
    })
  })

  it('gets no title that it did not have', () => {
    const marked = markItem(scoped, { name: 'add' })
    expect(marked).toEqual({
      name: 'add',
      description: 'Environment: devbox',
      _meta: { [ENVIRONMENT_META]: 'devbox' },
    })
  })

  it('names it in what a resource is called, too', () => {
    expect(markResource(scoped, { uri: 'a:b', name: 'Groceries', description: '' })).toEqual({
      uri: 'a:b',
      name: 'Groceries (devbox)',
      description: 'Environment: devbox',
      _meta: { [ENVIRONMENT_META]: 'devbox' },
    })
  })

  it('cannot claim another environment', () => {
    const lying = { name: 'add', _meta: { [ENVIRONMENT_META]: 'prod' } }
    expect(markItem(scoped, lying)._meta).toEqual({ [ENVIRONMENT_META]: 'devbox' })
  })

  it('is not disturbed by members of the wrong type', () => {
    const odd = { name: 1, title: {}, description: 4, annotations: [], _meta: 'text' }
    expect(markResource(scoped, odd)).toEqual({
      ...odd,
      description: 'Environment: devbox',
      _meta: { [ENVIRONMENT_META]: 'devbox' },
    })
  })
})

describe('what a thread-wide server lists', () => {
  it('passes as it came', () => {
    const item = { name: 'add', title: 'Add', _meta: { 'com.example/kept': 1 } }
    expect(markItem(shared, item)).toBe(item)
    expect(markResource(shared, item)).toBe(item)
  })

  it('cannot claim an environment', () => {
    expect(markItem(shared, { name: 'add', _meta: { [ENVIRONMENT_META]: 'prod' } })).toEqual({ name: 'add' })
  })
})

describe('what a server asks and tells', () => {
  it('names the server and its environment where a person reads it', () => {
    expect(markQuestion(scoped, { message: 'Sure?', requestedSchema: {} })).toEqual({
      message: 'notes (environment devbox): Sure?',
      requestedSchema: {},
      _meta: { [ENVIRONMENT_META]: 'devbox' },
    })
  })

  it('leaves the words for a model alone', () => {
    const asked = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 }
    expect(markQuestion(scoped, asked)).toEqual({ ...asked, _meta: { [ENVIRONMENT_META]: 'devbox' } })
  })

  it('keeps what stands in _meta', () => {
    const told = markParams(scoped, { uri: 'a:b', _meta: { progressToken: 4 } })
    expect(told._meta).toEqual({ progressToken: 4, [ENVIRONMENT_META]: 'devbox' })
    expect(markParams(shared, { uri: 'a:b' })).toEqual({ uri: 'a:b' })
  })
})

describe('the environment in a request', () => {
  it.each([
    [{ uri: 'a:b' }, undefined],
    [{ _meta: {} }, undefined],
    [{ _meta: { [ENVIRONMENT_META]: 'devbox' } }, 'devbox'],
    [{ _meta: { [ENVIRONMENT_META]: null } }, null],
  ])('%j', (params, environment) => {
    expect(namedEnvironment(params)).toBe(environment)
  })

  it.each([{ _meta: { [ENVIRONMENT_META]: 3 } }, { _meta: 'text' }])('is refused as %j', (params) => {
    expect(() => namedEnvironment(params)).toThrow(/_meta/)
  })

  it('goes no further', () => {
    expect(withoutMark({ uri: 'a:b', _meta: { [ENVIRONMENT_META]: 'x' } })).toEqual({ uri: 'a:b' })
    expect(withoutMark({ _meta: { [ENVIRONMENT_META]: 'x', progressToken: 1 } })).toEqual({
      _meta: { progressToken: 1 },
    })
  })
})
