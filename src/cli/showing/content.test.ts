import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { captureCli } from '../../../test/captured-cli.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { showCallResult } from './call-result.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-content-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

async function shown(result: JsonObject, options: { json?: boolean; output?: string } = {}) {
  const captured = captureCli({ home, json: options.json ?? false })
  const output = options.output === undefined ? {} : { output: options.output }
  const ok = await showCallResult(captured.cli, result, { ...output, label: 'draw' })
  return { ok, stdout: captured.stdout(), stderr: captured.stderr() }
}
const png = Buffer.from('not really a picture').toString('base64')

describe('the result of a call', () => {
  it('prints text as it is, links with what they are, unknown content as JSON', async () => {
    const content: JsonValue[] = [
      { type: 'text', text: 'one\ntwo\u001b[0m' },
      { type: 'resource', resource: { uri: 'a://b', text: 'embedded\n' } },
      { type: 'resource_link', uri: 'file:///x', name: 'x', mimeType: 'text/plain', description: 'the x' },
      { type: 'hologram', depth: 3 },
    ]
    const { ok, stdout } = await shown({ content })
    expect(ok).toBe(true)
    expect(stdout).toBe(
      'one\ntwo\u001b[0m\nembedded\nfile:///x  x · text/plain · the x\n{\n  "type": "hologram",\n  "depth": 3\n}\n',
    )
  })

  it('prints structured content once, also when a text block repeats it', async () => {
    const structuredContent = { sum: 3 }
    const text = { type: 'text', text: '{ "sum": 3 }' }
    expect((await shown({ content: [text], structuredContent })).stdout).toBe('{\n  "sum": 3\n}\n')
    const wrapped = { content: [{ type: 'text', text: 'a\nb' }], structuredContent: { content: 'a\nb' } }
    expect((await shown(wrapped)).stdout).toBe('a\nb\n')
    const other = { type: 'text', text: 'three' }
    expect((await shown({ content: [other], structuredContent })).stdout).toBe('three\n{\n  "sum": 3\n}\n')
  })

  it('is not fine when the tool says so', async () => {
    expect((await shown({ content: [{ type: 'text', text: 'no' }], isError: true })).ok).toBe(false)
  })

  it('names media, and saves them where asked, never over another file', async () => {
    const content: JsonValue[] = [
      { type: 'image', data: png, mimeType: 'image/png' },
      { type: 'audio', data: png, mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'x://y/../../etc/passwd', blob: png } },
      { type: 'image', data: '!!!', mimeType: 'image/png' },
    ]
    const named = await shown({ content })
    expect(named.stdout).toContain('[image: image/png, 20 B; save it with --output DIR]')
    expect(named.stdout).toContain('[image: its data is not base64]')

    const output = join(home, 'out')
    const first = await shown({ content }, { output })
    expect(readdirSync(output).sort()).toEqual(['draw.png', 'draw.wav', 'passwd.bin'])
    expect(first.stdout).toContain(`saved ${join(output, 'draw.png')} (image/png, 20 B)`)
    expect(readFileSync(join(output, 'draw.png'), 'utf8')).toBe('not really a picture')
    await shown({ content }, { output })
    expect(readdirSync(output)).toContain('draw-2.png')
  })

  it('gives the whole result with --json, and still saves media', async () => {
    const result = { content: [{ type: 'image', data: png, mimeType: 'image/png' }], _meta: { x: 1 } }
    const { stdout, stderr } = await shown(result, { json: true, output: join(home, 'out') })
    expect(JSON.parse(stdout)).toEqual(result)
    expect(stderr).toContain('draw.png')
  })

  it('refuses by name a folder that cannot be written to', async () => {
    writeFileSync(join(home, 'file'), '')
    const content = [{ type: 'image', data: png, mimeType: 'image/png' }]
    await expect(shown({ content }, { output: join(home, 'file') })).rejects.toThrow(/cannot write to '.*file'/)
  })
})
