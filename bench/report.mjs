// From the rounds' figures to a table: medians with their spread, and ratios to the first system of the same round.
import { cpus, release, totalmem } from 'node:os'
import { spread } from './statistics.mjs'

const FIGURES = ['p50', 'p95', 'perSecond1', 'perSecond16', 'perSecond64', 'rss', 'rssTree', 'coldStart']
const COMPARED = ['p50', 'perSecond16', 'perSecond64']

/** @param {readonly Map<string, object>[]} rounds each: system name → figures of its turn */
export function summarise(systems, rounds, { quick, calls }) {
  const [floor] = systems
  return {
    machine: machine(),
    quick,
    rounds: rounds.length,
    calls,
    systems: systems.map(({ name, title }) => ({
      name,
      title,
      figures: table(FIGURES, (figure) => rounds.map((round) => round.get(name)[figure])),
      ratios: table(COMPARED, (figure) =>
        rounds.map((round) => round.get(name)[figure] / round.get(floor.name)[figure]),
      ),
    })),
  }
}

function table(figures, valuesOf) {
  return Object.fromEntries(figures.map((figure) => [figure, spread(valuesOf(figure))]))
}

export function machine() {
  const [cpu] = cpus()
  return {
    cpu: cpu?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
    node: process.version,
  }
}

/** The Markdown that stands in bench/README.md. */
export function markdown({ machine: m, quick, rounds, calls, systems }) {
  const head = [
    `${m.cores} cores of ${m.cpu}, ${m.memoryGiB} GiB, ${m.system}, Node ${m.node}. ${rounds} rounds in turns; a round has`,
    `${calls.alone} calls one at a time and ${calls.together} each at 16 and 64 in flight. Median (lowest–highest round).${quick ? ' Quick run: shapes, not figures.' : ''}`,
  ]
  const absolute = [
    [
      'system',
      'p50 ms',
      'p95 ms',
      'calls/s, 1',
      'calls/s, 16',
      'calls/s, 64',
      'RSS MB (with children)',
      'cold start ms',
    ],
    ...systems.map(({ title, figures: f }) => [
      title,
      ranged(f.p50, 2),
      ranged(f.p95, 2),
      ranged(f.perSecond1),
      ranged(f.perSecond16),
      ranged(f.perSecond64),
      f.rss === undefined ? '–' : `${f.rss.median.toFixed(0)} (${f.rssTree.median.toFixed(0)})`,
      ranged(f.coldStart),
    ]),
  ]
  const relative = [
    [`ratio to ${systems[0].title}`, 'p50', 'calls/s, 16', 'calls/s, 64'],
    ...systems
      .slice(1)
      .map(({ title, ratios: r }) => [title, ranged(r.p50, 2), ranged(r.perSecond16, 2), ranged(r.perSecond64, 2)]),
  ]
  return [head.join('\n'), grid(absolute), grid(relative)].join('\n\n')
}

export function ranged(value, digits = 0) {
  if (value === undefined) return '–'
  const { median, low, high } = value
  return `${median.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`
}

export function grid([head, ...rows]) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
