import { describe, expect, it } from 'vitest'
import { ProblemReport, type ThreadProblem } from './problem-report.js'

const problem = (message: string): ThreadProblem => ({
  code: 'root_unreadable',
  environment: 'a',
  plugin: 'p',
  message,
})

describe('problems of a thread', () => {
  it('are told once, and again only after they were gone', () => {
    const told: string[] = []
    const report = new ProblemReport(({ message }) => told.push(message))
    report.now([problem('x'), problem('x')])
    report.now([problem('x'), problem('y')])
    expect(told).toEqual(['x', 'y'])
    report.now([problem('y')])
    report.now([problem('y'), problem('x')])
    expect(told).toEqual(['x', 'y', 'x'])
  })
})
