import { describe, expect, it } from 'vitest'
import { readableName, readableNaming, serverKey } from '../../src/identity/index.js'

const TRIPLES = 1_000_000
type Triple = readonly [environment: string | null, server: string, tool: string]

/** The same run each time: a failure can be repeated. (mulberry32) */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const ODD = [
  '',
  '_',
  '__',
  '-',
  '--',
  '.',
  'a__b',
  'a.b',
  'a-b',
  'a_b',
  'a b',
  '検索',
  'ノート',
  '😀',
  '👩‍💻',
  'é',
  'e\u0301',
  '\ud800',
  '\udfff',
  '\0',
  '__proto__',
  'constructor',
  'toString',
  'null',
  '["enva","notes"]',
  'n'.repeat(300),
  `${'n'.repeat(299)}m`,
  '長'.repeat(300),
  'a'.repeat(64),
  'b'.repeat(30),
  'notes',
  'devbox',
  'local',
]
const PIECES = ['_', '_', '-', '.', 'a', 'b', 'c', '1', '記', '😀', 'notes', '--abcdefghijklmnop', '--aaaaaaaaaaaaaaaa']

class Triples {
  readonly #next = random(20_260_728)
  /** Names that were given, to be taken apart and put together otherwise. */
  readonly #given: string[] = []

  remember(name: string): void {
    this.#given[this.#below(4096)] = name
  }

  next(): Triple {
    const impostor = this.#below(4) === 0 ? this.#impostor() : undefined
    return impostor ?? [this.#below(2) === 0 ? null : this.#part(), this.#part(), this.#part()]
  }

  /** A triple whose parts, joined, spell a name that another triple got. */
  #impostor(): Triple | undefined {
    const name = this.#given[this.#below(4096)]
    if (name === undefined) return undefined
    const cuts = [...name.matchAll(/__|_|-/g)].map(({ index, 0: { length } }) => [index, index + length] as const)
    const first = cuts[this.#below(cuts.length)]
    if (first === undefined) return [null, name, '']
    const [head, rest] = [name.slice(0, first[0]), name.slice(first[1])]
    if (this.#below(2) === 0) return [null, head, rest]
    const at = rest.indexOf('_')
    return at < 0 ? ['', head, rest] : [head, rest.slice(0, at), rest.slice(at).replace(/^__/, '')]
  }

  #part(): string {
    if (this.#below(3) === 0) return ODD[this.#below(ODD.length)] ?? ''
    let part = ''
    for (let left = this.#below(7); left > 0; left -= 1) part += PIECES[this.#below(PIECES.length)]
    return part
  }

  #below(limit: number): number {
    return Math.floor(this.#next() * limit)
  }
}

describe('readable names of a million triples', () => {
  it('are short, clean, and never shared by two', () => {
    const triples = new Triples()
    const owners = new Map<string, string>()
    const faults: string[] = []
    let plain = 0
    const seen = new Set<string>()
    while (seen.size < TRIPLES) {
      const [environment, server, tool] = triples.next()
      const triple = JSON.stringify([environment, server, tool])
      if (seen.has(triple)) continue
      seen.add(triple)
      const name = readableName(serverKey(server, environment), tool)
      const owner = owners.get(name)
      if (owner !== undefined) faults.push(`${name}: ${owner} and ${triple}`)
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) faults.push(`${name}: ${triple}`)
      if (!/--[a-z2-7]{16}$/.test(name)) plain += 1
      owners.set(name, triple)
      triples.remember(name)
    }
    expect(faults.slice(0, 20)).toEqual([])
    expect(owners.size).toBe(TRIPLES)
    // Both kinds must be there in numbers, or the run shows nothing.
    expect(plain).toBeGreaterThan(TRIPLES / 100)
    expect(TRIPLES - plain).toBeGreaterThan(TRIPLES / 100)
  })

  it('are the same alone and in a crowd, and pairs of namespace and name are as unique', () => {
    const triples = new Triples()
    for (let round = 0; round < 20; round += 1) {
      const inputs = Array.from({ length: 5000 }, () => {
        const [environment, server, tool] = triples.next()
        return { key: serverKey(server, environment), tool }
      })
      const crowd = readableNaming.assign(inputs)
      for (const { key, tool, flat } of crowd) {
        if (flat !== readableName(key, tool)) expect.fail(`${flat} is not ${readableName(key, tool)}`)
        triples.remember(flat)
      }
      expect(new Set(crowd.map(({ flat }) => flat)).size).toBe(crowd.length)
      expect(new Set(crowd.map(({ namespace, name }) => `${namespace} ${name}`)).size).toBe(crowd.length)
      expect(readableNaming.assign([...inputs].reverse())).toEqual(crowd)
    }
  })
})
