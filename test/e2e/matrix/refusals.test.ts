import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { exists } from './cell.js'
import { COMBINATIONS } from './combinations.js'
import { FEATURES } from './features/index.js'
import { REFUSALS, refusalOf } from './refusals.js'

const GUIDE = fileURLToPath(new URL('../../../docs/eras.md', import.meta.url))

describe('what the matrix refuses', () => {
  it('is what the guide says cannot be bridged, with the same section of the specification', async () => {
    const listed = REFUSALS.map(({ feature, client = 'any', server = 'any', spec }) =>
      [feature, client, server, spec].join(' | '),
    )
    expect((await listedInGuide()).sort()).toEqual(listed.sort())
  })

  it('is some cell of the matrix each', () => {
    const refused = COMBINATIONS.flatMap((combination) =>
      FEATURES.filter((feature) => exists(feature, combination)).map(({ name }) => refusalOf(combination, name)),
    )
    for (const refusal of REFUSALS) expect(refused, refusal.feature).toContain(refusal)
  })
})

/** The rows of the table, without the reason, which is written for another reader. */
async function listedInGuide(): Promise<string[]> {
  const guide = await readFile(GUIDE, 'utf8')
  const [, section = ''] = /^## What can't be bridged\n(.*?)(?=^## |$(?![\s\S]))/ms.exec(guide) ?? []
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => {
      const [what, client, server, , spec] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
      return [what, client, server, spec].join(' | ')
    })
}
