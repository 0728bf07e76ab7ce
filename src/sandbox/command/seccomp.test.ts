import { describe, expect, it } from 'vitest'
import { seccompProgram } from './seccomp.js'

const ALLOW = 'allow'
const EPERM = 'EPERM'
const KILL = 'kill'

/** Runs the program as the kernel would. */
function decide(program: Buffer, data: { arch: number; call: number; argument?: number }): string {
  const memory = Buffer.alloc(64)
  memory.writeUInt32LE(data.call, 0)
  memory.writeUInt32LE(data.arch, 4)
  memory.writeUInt32LE(data.argument ?? 0, 16)
  let value = 0
  for (let at = 0; ; at += 1) {
    const code = program.readUInt16LE(at * 8)
    const then = program.readUInt8(at * 8 + 2)
    const otherwise = program.readUInt8(at * 8 + 3)
    const operand = program.readUInt32LE(at * 8 + 4)
    if (code === 0x20) value = memory.readUInt32LE(operand)
    else if (code === 0x15) at += value === operand ? then : otherwise
    else if (code === 0x35) at += value >= operand ? then : otherwise
    else if (code === 0x06) return { 2147418112: ALLOW, 327681: EPERM, 2147483648: KILL }[operand] ?? String(operand)
    else throw new Error(`instruction ${code}`)
  }
}

const X64 = 0xc000003e
const ARM64 = 0xc00000b7
const AF = { unix: 1, inet: 2, vsock: 40 }

describe.each([
  { arch: 'x64', audit: X64, socket: 41, connect: 42, ptrace: 101, uring: 425, read: 0, recvfrom: 45, getsockname: 51 },
  {
    arch: 'arm64',
    audit: ARM64,
    socket: 198,
    connect: 203,
    ptrace: 117,
    uring: 425,
    read: 63,
    recvfrom: 207,
    getsockname: 204,
  },
])('the filter of $arch', ({ arch, audit, socket, connect, ptrace, uring, read, recvfrom, getsockname }) => {
  it('refuses every way to a network, and allows pairs', () => {
    const program = seccompProgram(false, arch)
    const of = (call: number, argument?: number) =>
      decide(program, { arch: audit, call, ...(argument && { argument }) })
    expect([of(connect), of(ptrace), of(uring)]).toEqual([EPERM, EPERM, EPERM])
    expect([of(socket, AF.inet), of(socket, AF.vsock), of(socket, AF.unix)]).toEqual([EPERM, EPERM, ALLOW])
    expect([of(read), of(recvfrom), of(getsockname)]).toEqual([ALLOW, ALLOW, ALLOW])
  })

  it('with network, refuses only the way to the host of a virtual machine', () => {
    const program = seccompProgram(true, arch)
    const of = (call: number, argument?: number) =>
      decide(program, { arch: audit, call, ...(argument && { argument }) })
    expect([of(connect), of(ptrace), of(uring)]).toEqual([ALLOW, ALLOW, EPERM])
    expect([of(socket, AF.inet), of(socket, AF.vsock), of(socket, AF.unix)]).toEqual([ALLOW, EPERM, ALLOW])
  })

  it('ends a program of another architecture', () => {
    expect(decide(seccompProgram(false, arch), { arch: 0x40000003, call: read })).toBe(KILL)
  })
})

describe('the filter', () => {
  it('knows the second set of numbers of x64', () => {
    expect(decide(seccompProgram(false, 'x64'), { arch: X64, call: 0x40000000 + 41, argument: AF.unix })).toBe(EPERM)
  })

  it('is refused for processors whose calls are not known', () => {
    expect(() => seccompProgram(false, 'riscv64')).toThrow(expect.objectContaining({ code: 'sandbox_unsupported' }))
  })
})
