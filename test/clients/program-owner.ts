import { startProgram } from './program.js'

// Starts a program that never ends by itself, tells its number, and goes on.
const program = startProgram(
  { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] },
  { env: {}, cwd: process.cwd() },
)
console.log(program.child.pid)
