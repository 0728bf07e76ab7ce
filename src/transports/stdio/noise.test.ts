import { expect, it } from 'vitest'
import { NoiseReport } from './noise.js'

it('shows a few lines in each stretch of time, and counts the others', () => {
  const shown: string[] = []
  let now = 0
  const report = new NoiseReport({
    who: 'it',
    secrets: [],
    onwarning: (warning) => shown.push(warning.message),
    now: () => now,
  })
  const add = (count: number) => {
    for (let line = 0; line < count; line += 1) report.add('noise', Buffer.from('x'))
  }
  add(100)
  expect(shown).toEqual(Array(5).fill('it wrote noise on stdout (1 bytes): x'))
  now = 20_000
  add(2)
  expect(shown.slice(5)).toEqual([
    'it wrote 95 more lines on stdout that are no messages',
    'it wrote noise on stdout (1 bytes): x',
    'it wrote noise on stdout (1 bytes): x',
  ])
  report.flush()
  expect(shown).toHaveLength(8)
})

it('shows the start of a long line, without secrets and control characters', () => {
  const shown: string[] = []
  const report = new NoiseReport({ who: 'it', secrets: ['hunter22'], onwarning: ({ message }) => shown.push(message) })
  report.add('noise', Buffer.from(`\u0007my hunter22 ${'y'.repeat(10_000)}`))
  expect(shown[0]).toMatch(/^it wrote noise on stdout \(10013 bytes\): my \[redacted\] y+…$/)
  expect(shown[0]?.length).toBeLessThan(300)
})
