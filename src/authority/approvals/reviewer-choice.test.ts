import { expect, it } from 'vitest'
import { reviewerOf } from './reviewer-choice.js'

it('asks a person where nobody says otherwise', () => {
  expect(reviewerOf({})).toBe('user')
  expect(reviewerOf({ thread: 'auto_review', turn: 'user' })).toBe('user')
  expect(reviewerOf({ thread: 'guardian_subagent' })).toBe('auto_review')
})

it('lets nobody out of what is demanded of the model', () => {
  expect(reviewerOf({ demandedOfModel: true, turn: 'user', app: { allowed: true, link: 'user' } })).toBe('auto_review')
})

it('takes what is nearest to a hosted app, if the requirements allow', () => {
  const app = { allowed: true, link: undefined, app: 'auto_review', byDefault: 'user' } as const
  expect(reviewerOf({ app, thread: 'user' })).toBe('auto_review')
  expect(reviewerOf({ app: { ...app, link: 'user' }, thread: 'auto_review' })).toBe('user')
  expect(reviewerOf({ app: { ...app, allowed: false }, thread: 'user' })).toBe('user')
})
