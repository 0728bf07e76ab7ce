import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BrokerHome } from './broker/home.js'
import { StdioClient } from './broker/stdio-client.js'

/** What a number of clients cost in processes, and whether each got its own answers. */
export interface BrokerRow {
  readonly how: string
  readonly clients: number
  /** Processes of servers. */
  readonly before: number
  readonly during: number
  /** After the clients have left, and what runs for nobody has ended. */
  readonly after: number
  readonly brokers: number
  readonly rightAnswers: number
  /** Of clients' processes, broker and servers together, in MB. */
  readonly memory: number
}

const CLIENTS = 10
const SERVERS = { notes: [], files: [] }
/** Milliseconds that a broker of the table stays without a client. */
const IDLE = { REEVE_BROKER_IDLE_MS: '500' }

/**
 * Ten clients at once, each with two servers in its configuration: with servers of their own, with the broker, and with
 * the broker where half of them give another value to a variable that the servers get.
 *
 * @param root the repository's folder, for callers that were bundled elsewhere
 * @throws when an answer is wrong, or more or fewer processes run than must
 */
export async function runBrokerTable(
  root: string = fileURLToPath(new URL('../..', import.meta.url)),
): Promise<BrokerRow[]> {
  const rows = [
    await runRow(root, '--private', ['--private'], () => ({})),
    await runRow(root, 'broker', [], () => ({})),
    await runRow(root, 'broker, two values of a variable', [], (client) => ({ TOKEN: client % 2 === 0 ? 'a' : 'b' })),
  ]
  for (const [index, servers] of [CLIENTS * 2, 2, 4].entries()) {
    const { how, during, after, before, rightAnswers } = rows[index] ?? rows[0] ?? fail('no row')
    if (rightAnswers !== CLIENTS) fail(`${how}: ${rightAnswers} of ${CLIENTS} answers are right`)
    if (before !== 0 || during !== servers || after !== 0) fail(`${how}: ${before}, ${during}, ${after} processes`)
  }
  return rows
}

/** The rows as a table of text. */
export function brokerTable(rows: readonly BrokerRow[]): string {
  const titles = [
    'clients',
    'how',
    'brokers',
    'servers before',
    'while open',
    'after',
    'right answers',
    'memory of all',
  ]
  const cells = rows.map((row) => [
    String(row.clients),
    row.how,
    String(row.brokers),
    String(row.before),
    String(row.during),
    String(row.after),
    `${row.rightAnswers}/${row.clients}`,
    `${row.memory} MB`,
  ])
  const all = [titles, ...cells]
  const widths = titles.map((_, column) => Math.max(...all.map((line) => (line[column] ?? '').length)))
  return all
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n')
}

async function runRow(
  root: string,
  how: string,
  options: readonly string[],
  envOf: (client: number) => Readonly<Record<string, string>>,
): Promise<BrokerRow> {
  const home = await BrokerHome.make(SERVERS, root)
  try {
    await home.configure(SERVERS, { env_vars: ['TOKEN'] })
    const before = home.servers().length
    const clients = Array.from({ length: CLIENTS }, (_, index) => {
      const env = { ...IDLE, ...envOf(index) }
      return new StdioClient(home.start([...options, 'serve', '--stdio'], { env }))
    })
    await Promise.all(clients.map((client) => client.open()))
    const answers = await Promise.all(clients.map((client, index) => answersRight(client, `${index}`)))
    const [servers, brokers] = [home.servers(), home.brokers()]
    const all = [...clients.map(({ program }) => program.child.pid ?? 0), ...brokers, ...servers]
    const memory = Math.round(all.reduce((sum, pid) => sum + residentMegabytes(pid), 0))
    await Promise.all(clients.map((client) => client.leave()))
    const counts = { before, during: servers.length, after: await left(home), brokers: brokers.length }
    return { how, clients: CLIENTS, ...counts, rightAnswers: answers.filter(Boolean).length, memory }
  } finally {
    await home[Symbol.asyncDispose]()
  }
}

async function answersRight(client: StdioClient, message: string): Promise<boolean> {
  const texts = await Promise.all(
    Object.keys(SERVERS).map((server) => client.call(`${server}__echo`, { message: `${server} ${message}` })),
  )
  return Object.keys(SERVERS).every((server, index) => texts[index] === `${server} ${message}`)
}

/** What still runs once the broker has had the time to end. */
async function left(home: BrokerHome): Promise<number> {
  for (const end = performance.now() + 15_000; performance.now() < end; await pause(50)) {
    if (home.servers().length === 0 && home.brokers().length === 0) return 0
  }
  return home.servers().length
}

function residentMegabytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

function fail(reason: string): never {
  throw new Error(reason)
}
