import { SandboxCommandError } from '../../errors.js'

/**
 * The filter of system calls that a sandboxed command runs under, as a program for the kernel (classic BPF over
 * `struct seccomp_data`). A namespace of its own takes the network away; the filter also refuses sockets, so that services of
 * this machine that listen on a path can't be reached either, and says so with EPERM as the reference does.
 */
export function seccompProgram(network: boolean, arch: string = process.arch): Buffer {
  const numbers = ARCHITECTURES[arch]
  if (numbers === undefined) {
    throw new SandboxCommandError('sandbox_unsupported', `no filter of system calls for processors of type ${arch}`)
  }
  const { audit, calls } = numbers
  const denied = [...ALWAYS, ...(network ? [] : WITHOUT_NETWORK)].map((name) => calls[name])
  return Buffer.concat([
    load(ARCHITECTURE),
    jumpIfEqual(audit, 1, 0),
    answer(KILL_PROCESS),
    load(CALL_NUMBER),
    // The x32 calls of the same architecture have numbers of their own, from here up.
    ...(arch === 'x64' ? [jumpIfAtLeast(0x4000_0000, 0, 1), answer(EPERM)] : []),
    ...denied.flatMap((number) => [jumpIfEqual(number, 0, 1), answer(EPERM)]),
    ...[calls.socket, calls.socketpair].flatMap((number) => [
      jumpIfEqual(number, 0, 4),
      load(FIRST_ARGUMENT),
      ...(network ? [jumpIfEqual(AF_VSOCK, 1, 0)] : [jumpIfEqual(AF_UNIX, 0, 1)]),
      answer(ALLOW),
      answer(EPERM),
    ]),
    answer(ALLOW),
  ])
}

/** Another way to open sockets, which no filter of arguments sees. */
const ALWAYS = ['io_uring_setup', 'io_uring_enter', 'io_uring_register'] as const

/**
 * What makes or uses a connection, and what would borrow one of another process. `recvfrom`, `sendmsg` and `shutdown` work on
 * pairs. `getsockname` and `getsockopt` tell what a descriptor is: a program of Node.js whose standard input is one of a pair,
 * as Node.js itself makes them, takes it for closed where it may not ask.
 */
const WITHOUT_NETWORK = [
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'connect',
  'accept',
  'accept4',
  'bind',
  'listen',
  'getpeername',
  'sendto',
  'sendmmsg',
  'recvmmsg',
  'setsockopt',
] as const

type Call = (typeof ALWAYS)[number] | (typeof WITHOUT_NETWORK)[number] | 'socket' | 'socketpair'

interface Architecture {
  readonly audit: number
  readonly calls: Readonly<Record<Call, number>>
}

/** From the kernel's tables of system calls. */
const ARCHITECTURES: Readonly<Record<string, Architecture | undefined>> = {
  x64: {
    audit: 0xc000_003e,
    calls: {
      socket: 41,
      connect: 42,
      accept: 43,
      sendto: 44,
      bind: 49,
      listen: 50,
      getpeername: 52,
      socketpair: 53,
      setsockopt: 54,
      ptrace: 101,
      accept4: 288,
      recvmmsg: 299,
      sendmmsg: 307,
      process_vm_readv: 310,
      process_vm_writev: 311,
      io_uring_setup: 425,
      io_uring_enter: 426,
      io_uring_register: 427,
    },
  },
  arm64: {
    audit: 0xc000_00b7,
    calls: {
      ptrace: 117,
      socket: 198,
      socketpair: 199,
      bind: 200,
      listen: 201,
      accept: 202,
      connect: 203,
      getpeername: 205,
      sendto: 206,
      setsockopt: 208,
      accept4: 242,
      recvmmsg: 243,
      sendmmsg: 269,
      process_vm_readv: 270,
      process_vm_writev: 271,
      io_uring_setup: 425,
      io_uring_enter: 426,
      io_uring_register: 427,
    },
  },
}

const AF_UNIX = 1
const AF_VSOCK = 40

// Offsets in `struct seccomp_data`; the low half of a 64-bit argument comes first on both architectures.
const CALL_NUMBER = 0
const ARCHITECTURE = 4
const FIRST_ARGUMENT = 16

const ALLOW = 0x7fff_0000
const KILL_PROCESS = 0x8000_0000
const EPERM = 0x0005_0001

const load = (offset: number): Buffer => instruction(0x20, 0, 0, offset)
const answer = (value: number): Buffer => instruction(0x06, 0, 0, value)
const jumpIfEqual = (value: number, then: number, otherwise: number): Buffer =>
  instruction(0x15, then, otherwise, value)
const jumpIfAtLeast = (value: number, then: number, otherwise: number): Buffer =>
  instruction(0x35, then, otherwise, value)

/** `struct sock_filter`. */
function instruction(code: number, then: number, otherwise: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(then, 2)
  bytes.writeUInt8(otherwise, 3)
  bytes.writeUInt32LE(value, 4)
  return bytes
}
