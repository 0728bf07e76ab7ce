/** Ends this process, after everything printed has left. */
export async function endProcess(process: NodeJS.Process, code: number): Promise<never> {
  await Promise.all([drained(process.stdout), drained(process.stderr)])
  process.exit(code)
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength === 0 || stream.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.write('', () => resolve())
  })
}
