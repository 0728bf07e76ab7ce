import { describe, expect, it } from 'vitest'
import { resolveProgram } from './program.js'

const files = (...paths: string[]) => {
  const present = new Set(paths.map((path) => path.toLowerCase()))
  return async (path: string) => present.has(path.toLowerCase())
}
const env = { Path: 'C:\\tools;"C:\\Program Files\\nodejs";;rel', PATHEXT: '.COM;.EXE;.CMD' }

describe('resolveProgram', () => {
  it('leaves the program to the system on POSIX', async () => {
    const everything = async () => true
    for (const program of ['node', './server', '../a b/é', '/usr/bin/env'])
      expect(await resolveProgram('linux', program, { PATH: '/bin' }, '/srv', everything)).toBe(program)
  })

  it('finds a .cmd shim on Windows through PATHEXT', async () => {
    const found = await resolveProgram('win32', 'npx', env, 'C:\\work', files('C:\\Program Files\\nodejs\\npx.cmd'))
    expect(found).toBe('C:\\Program Files\\nodejs\\npx.CMD')
  })

  it('prefers the order of PATH, then the order of PATHEXT', async () => {
    const exists = files('C:\\tools\\a.cmd', 'C:\\tools\\a.exe', 'C:\\Program Files\\nodejs\\a.com')
    expect(await resolveProgram('win32', 'a', env, 'C:\\work', exists)).toBe('C:\\tools\\a.EXE')
  })

  it('does not take an extensionless file for a program: that one is the shim for POSIX shells', async () => {
    const exists = files('C:\\Program Files\\nodejs\\npx', 'C:\\Program Files\\nodejs\\npx.cmd')
    expect(await resolveProgram('win32', 'npx', env, 'C:\\work', exists)).toBe('C:\\Program Files\\nodejs\\npx.CMD')
  })

  it('takes a named extension as it is', async () => {
    const exists = files('C:\\tools\\run.cmd')
    expect(await resolveProgram('win32', 'RUN.cmd', env, 'C:\\work', exists)).toBe('C:\\tools\\RUN.cmd')
  })

  it('does not search the working directory for a bare name', async () => {
    expect(await resolveProgram('win32', 'npx', env, 'C:\\work', files('C:\\work\\npx.cmd'))).toBe('npx')
  })

  it('resolves a relative path, also on PATH, from the working directory', async () => {
    const exists = files('C:\\work\\a b\\é.exe', 'C:\\work\\rel\\b.exe')
    expect(await resolveProgram('win32', '.\\a b\\é', env, 'C:\\work', exists)).toBe('C:\\work\\a b\\é.EXE')
    expect(await resolveProgram('win32', 'a b/é.exe', env, 'C:\\work', exists)).toBe('C:\\work\\a b\\é.exe')
    expect(await resolveProgram('win32', 'b', env, 'C:\\work', exists)).toBe('C:\\work\\rel\\b.EXE')
  })

  it('falls back to the original text and to the usual PATHEXT', async () => {
    expect(await resolveProgram('win32', 'nothing', env, 'C:\\work', files())).toBe('nothing')
    expect(await resolveProgram('win32', 'a', { PATH: 'C:\\t' }, 'C:\\', files('C:\\t\\a.bat'))).toBe('C:\\t\\a.BAT')
    expect(await resolveProgram('win32', 'a', {}, 'C:\\', files('C:\\a.exe'))).toBe('a')
  })
})
