import { describe, expect, it } from 'vitest'
import { seatbeltArguments } from './seatbelt.js'

const COMMAND = ['sh', '-c', 'x']

describe('seatbeltArguments', () => {
  it('puts what is deeper after what is around it, where the last rule counts', () => {
    const [flag, profile = '', ...rest] = seatbeltArguments(
      {
        base: 'read',
        network: false,
        rules: [
          { kind: 'write', path: '/w', isFolder: true },
          { kind: 'read', path: '/w/.git', isFolder: true },
          { kind: 'absent', path: '/w/.aws' },
          { kind: 'deny', path: '/w/a/.env', isFolder: false, opened: false },
        ],
      },
      COMMAND,
    )
    expect(flag).toBe('-p')
    const lines = profile.split('\n')
    expect(lines.slice(0, 2)).toEqual(['(version 1)', '(deny default)'])
    const rules = lines.filter((line) => line.includes('param') || line === '(allow file-read*)')
    expect(rules).toEqual([
      '(allow file-read*)',
      '(allow file-read* (subpath (param "PATH_0")))',
      '(allow file-write* (subpath (param "PATH_0")))',
      '(allow file-read* (subpath (param "PATH_1")))',
      '(deny file-write* (subpath (param "PATH_1")))',
      '(deny file-write* (subpath (param "PATH_2")))',
      '(deny file-read* (literal (param "PATH_3")))',
      '(deny file-write* (literal (param "PATH_3")))',
      // Moved away, the folder would take its denied file to a path that no rule names.
      '(deny file-write-unlink (literal (param "PATH_0")))',
      '(deny file-write-unlink (literal (param "PATH_4")))',
    ])
    expect(rest).toEqual([
      ...[
        '-D',
        'PATH_0=/w',
        '-D',
        'PATH_1=/w/.git',
        '-D',
        'PATH_2=/w/.aws',
        '-D',
        'PATH_3=/w/a/.env',
        '-D',
        'PATH_4=/w/a',
      ],
      ...['--', ...COMMAND],
    ])
  })

  it('never puts a path into the text of the profile', () => {
    const path = '/w") (allow default) ("'
    const [, profile, ...rest] = seatbeltArguments(
      { base: 'none', network: false, rules: [{ kind: 'write', path, isFolder: true }] },
      COMMAND,
    )
    expect(profile).not.toContain(path)
    expect(rest).toContain(`PATH_0=${path}`)
  })

  it('opens the network only where it is allowed', () => {
    const of = (network: boolean) => seatbeltArguments({ base: 'write', network, rules: [] }, COMMAND)[1]
    expect(of(false)).not.toContain('network')
    expect(of(true)).toContain('(allow network-outbound)')
  })
})
