import { Writable } from 'node:stream'

export interface ClaimedStdout {
  /** Writes to the real stdout. */
  readonly output: Writable
  release(): void
}

/**
 * Takes stdout for protocol frames: whatever else in this process writes there (a stray `console.log` of some library)
 * comes out on stderr instead of in the middle of a frame.
 */
export function claimStdout(): ClaimedStdout {
  const { stdout, stderr } = process
  const realWrite = stdout.write
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      realWrite.call(stdout, chunk, undefined, (error) => done(error ?? null))
    },
  })
  // The write's callback reports the fault; without a listener the event would end the process.
  const ignore = () => undefined
  stdout.on('error', ignore)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  return {
    output,
    release: () => {
      stdout.write = realWrite
      stdout.off('error', ignore)
    },
  }
}
