// Medians of a call in each mode, in turns, against a configured header.
import { succeed, table } from '../gateway/commands.mjs'

export async function cost() {
  const output = await succeed([process.execPath, 'bench/auth-calls.mjs', '--json'], { minutes: 10 })
  const micro = (ms) => (ms * 1000).toFixed(0)
  const rows = JSON.parse(output).map(({ wire, mode, callMs, added, addedCpu, ratio: { median, low, high } }) => [
    wire,
    mode,
    micro(callMs),
    mode === 'static' ? '–' : micro(added),
    mode === 'static' ? '–' : micro(addedCpu),
    mode === 'static' ? '–' : `${median.toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`,
    mode === 'static' ? '–' : (added * 20).toFixed(1),
  ])
  const titles = [
    'wire',
    'auth',
    'a call, µs',
    'added, µs',
    'of it processor, µs',
    'ratio (rounds)',
    '5 % of a call of, ms',
  ]
  console.log(table([titles, ...rows]))
  console.log('\nOn loopback, where a call is as short as it can be. What is added is the same for longer ones.')
}
