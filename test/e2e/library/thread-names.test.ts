import { describe, expect, it } from 'vitest'
import type { Step } from '../../../src/reeve.js'
import { notes, notesToml, ThreadWorld, type WorldPlugin } from '../../fixtures/threads/thread-world.js'

const ROOT: WorldPlugin = { id: 'rootA', environment: 'enva', servers: { notes: notes('--as', 'a') } }

const namesOf = (step: Step) => step.namespaces.map(({ name }) => name)

describe('names in a thread', () => {
  it('stay when a reload brings a server whose name collides, which alone gets a suffix', async () => {
    await using world = await ThreadWorld.open({ config: notesToml('a.b') })
    await using thread = await world.reeve.startThread()
    expect(namesOf(await thread.step({ wait: 'all' }))).toEqual(['mcp__a_b'])
    world.write('config.toml', notesToml('a.b') + notesToml('a-b'))
    await world.reeve.reload()
    expect(namesOf(await thread.step({ wait: 'all' }))).toEqual(['mcp__a_b_e0598e406614', 'mcp__a_b'])
    await using later = await world.reeve.startThread()
    expect(namesOf(await later.step({ wait: 'all' }))).toEqual(['mcp__a_b_e0598e406614', 'mcp__a_b_c5342199e32f'])
  })

  it('have no prefix where the configuration says so, and tell a tool its name where only a hash is shown', async () => {
    const long = 'n'.repeat(125)
    await using world = await ThreadWorld.open({
      executors: ['enva'],
      plugins: [ROOT],
      config: notesToml(long),
      features: { non_prefixed_mcp_tool_names: true },
    })
    await using thread = await world.reeve.startThread({ capabilityRoots: world.roots })
    const { namespaces, tools } = await thread.step({ wait: 'all' })
    expect(namespaces.map(({ name }) => name)).toEqual(['4398a80ccd8f__notes', 'n'.repeat(113)])
    const ask = tools.find(({ key, tool }) => key.name === long && tool === 'ask')
    expect(ask?.name).toMatch(/^_[0-9a-f]{12}$/)
    expect(ask?.description).toBe(`This is \`ask\` of \`${long}\`. ask description`)
  })
})
