// Kills the process groups that it was told of once nobody holds its stdin any more: also when whoever did was killed.
import { createInterface } from 'node:readline'

const groups = new Set()
for await (const line of createInterface({ input: process.stdin })) {
  const group = Number(line.slice(1))
  if (line.startsWith('+')) groups.add(group)
  else groups.delete(group)
}
for (const group of groups) {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // It is gone already.
  }
}
