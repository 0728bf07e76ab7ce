// Runs one step of the set-up as a child process and keeps quiet about what went well.
import { spawn } from 'node:child_process'

/** A step that failed, with the one command that a person can run to see or mend it. */
export class StepFailedError extends Error {
  constructor(what, output, command) {
    super([what, output.trim(), `Run this to mend it: ${command}`].filter((part) => part !== '').join('\n'))
    this.name = 'StepFailedError'
  }
}

const KEPT_OUTPUT = 8000

/**
 * @param {string} what how the step is called when it fails
 * @param {readonly string[]} command program and arguments; `npm` is found on Windows too
 * @param {{ cwd: string, mend: string }} options `mend`: the command to print when it fails
 */
export function runStep(what, [program, ...args], { cwd, mend }) {
  const shim = process.platform === 'win32' && program === 'npm'
  return new Promise((resolve, reject) => {
    const child = spawn(shim ? 'npm.cmd' : program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], shell: shim })
    let output = ''
    const keep = (chunk) => {
      output = (output + chunk).slice(-KEPT_OUTPUT)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', (error) => reject(new StepFailedError(`${what}: ${error.message}`, '', mend)))
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new StepFailedError(`${what} ended with ${signal ?? `code ${code}`}`, output, mend))
    })
  })
}
