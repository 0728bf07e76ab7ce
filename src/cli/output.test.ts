import { describe, expect, it } from 'vitest'
import { createCli, type GlobalOptions } from './cli.js'

function withStreams(options: GlobalOptions, terminal = false) {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({
    isTTY: terminal,
    columns: 20,
    write(chunk: string | Uint8Array) {
      written[name] += chunk
    },
  })
  const world = {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    stdin: process.stdin,
    env: { REEVE_HOME: '/nowhere' },
    cwd: '/',
    signal: new AbortController().signal,
  }
  return { cli: createCli(world, options), written }
}

describe('what a verb prints', () => {
  it('is a line per state of progress for logs, nothing with --quiet, and no text between JSON', () => {
    for (const [options, expected] of [
      [{}, 'one\ntwo\nnote\n'],
      [{ quiet: true }, ''],
      [{ json: true }, 'note\n'],
    ] as const) {
      const { cli, written } = withStreams(options)
      cli.err.progress('one')
      cli.err.progress('two')
      cli.err.line('note')
      expect(written.stderr).toBe(expected)
    }
  })

  it('is one line of progress that goes away on a terminal, before anything else is printed', () => {
    const { cli, written } = withStreams({}, true)
    cli.err.progress('one')
    cli.err.progress('a state that is longer than the line')
    cli.out.line('result')
    expect(written.stderr.split('\r\u001b[K')).toHaveLength(4)
    expect(written.stderr).not.toContain('\n')
    expect(written.stderr).not.toContain('than the line')
    expect(written.stdout).toBe('result\n')
  })

  it('keeps warnings and errors with --quiet', () => {
    const { cli, written } = withStreams({ quiet: true })
    cli.err.warn('careful')
    cli.err.error('error: no')
    expect(written.stderr).toBe('warning: careful\nerror: no\n')
  })

  it('is laid out JSON on a terminal and one line elsewhere', () => {
    const terminal = withStreams({ json: true }, true)
    terminal.cli.out.json({ a: 1 })
    expect(terminal.written.stdout).toBe('{\n  "a": 1\n}\n')
    const pipe = withStreams({ json: true })
    pipe.cli.out.json({ a: 1 })
    expect(pipe.written.stdout).toBe('{"a":1}\n')
  })

  it('has colours on a terminal only, and none where NO_COLOR or --json asks for none', () => {
    expect(withStreams({}, true).cli.color).toBe(true)
    expect(withStreams({}).cli.color).toBe(false)
    expect(withStreams({ json: true }, true).cli.color).toBe(false)
  })
})
