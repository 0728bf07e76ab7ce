import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serveExecutorWebSocket, type WebSocketExecutor } from '../../src/executor/index.js'
import { connectExecutor, type ExecutorClient } from './executor-client.js'

let folder: string
let executor: WebSocketExecutor
let client: ExecutorClient

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'reeve-executor-')))
  await mkdir(join(folder, 'sub'))
  await writeFile(join(folder, 'a b.txt'), 'text')
  await symlink('sub', join(folder, 'link'))
  await symlink('nowhere', join(folder, 'dangling'))
  executor = await serveExecutorWebSocket({ host: '127.0.0.1', port: 0, authentication: { kind: 'none' } })
  client = await connectExecutor(executor.url)
  await client.greet()
})
afterEach(async () => {
  await client.drop()
  await executor[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const uri = (...path: string[]) => pathToFileURL(join(folder, ...path)).href
const base64 = (text: string) => Buffer.from(text).toString('base64')
const fs = async (method: string, params: object) => {
  const { result, error } = await client.ask(`fs/${method}`, params)
  return error?.code ?? result
}

describe('files of an executor', () => {
  it('are read and written whole', async () => {
    expect(await fs('readFile', { path: uri('a b.txt') })).toEqual({ dataBase64: base64('text') })
    expect(await fs('writeFile', { path: uri('new'), dataBase64: base64('néw') })).toEqual({})
    expect(await readFile(join(folder, 'new'), 'utf8')).toBe('néw')
    expect(await fs('writeFile', { path: uri('no', 'folder'), dataBase64: '' })).toBe(-32004)
    expect(await fs('readFile', { path: uri('sub') })).toBe(-32600)
    expect(await fs('readFile', { path: 'file:///dev/zero' })).toBe(-32600)
  })

  it('are read in blocks by handle', async () => {
    expect(await fs('open', { path: uri('a b.txt'), handleId: 'h' })).toEqual({ handleId: 'h' })
    expect(await fs('open', { path: uri('a b.txt'), handleId: 'h' })).toBe(-32600)
    expect(await fs('readBlock', { handleId: 'h', offset: 1, len: 2 })).toEqual({ chunk: base64('ex'), eof: false })
    expect(await fs('readBlock', { handleId: 'h', offset: 3, len: 9 })).toEqual({ chunk: base64('t'), eof: true })
    expect(await fs('readBlock', { handleId: 'h', offset: 0, len: 0 })).toBe(-32600)
    expect(await fs('readBlock', { handleId: 'h', offset: -1, len: 1 })).toBe(-32602)
    expect(await fs('writeBlock', { handleId: 'h', offset: 0, chunk: base64('x') })).toBe(-32600)
    expect(await fs('close', { handleId: 'h' })).toEqual({})
    expect(await fs('close', { handleId: 'h' })).toEqual({})
    expect(await fs('readBlock', { handleId: 'h', offset: 0, len: 1 })).toBe(-32004)
  })

  it('are written in blocks by handle', async () => {
    expect(await fs('open', { path: uri('out'), handleId: 'h', mode: 'replace' })).toEqual({ handleId: 'h' })
    expect(await fs('writeBlock', { handleId: 'h', offset: 2, chunk: base64('cd') })).toEqual({})
    expect(await fs('writeBlock', { handleId: 'h', offset: 0, chunk: base64('ab') })).toEqual({})
    expect(await fs('close', { handleId: 'h' })).toEqual({})
    expect(await readFile(join(folder, 'out'), 'utf8')).toBe('abcd')
  })

  it('are open up to a limit', async () => {
    for (let count = 0; count < 128; count += 1)
      expect(await fs('open', { path: uri('a b.txt'), handleId: `${count}` })).toEqual({ handleId: `${count}` })
    expect(await fs('open', { path: uri('a b.txt'), handleId: 'more' })).toBe(-32600)
    expect(await fs('open', { path: uri('a b.txt'), handleId: 'x'.repeat(33) })).toBe(-32600)
  })

  it('are described, links as what they lead to', async () => {
    expect(await fs('getMetadata', { path: uri('a b.txt') })).toMatchObject({ isFile: true, isSymlink: false, size: 4 })
    expect(await fs('getMetadata', { path: uri('link') })).toMatchObject({ isDirectory: true, isSymlink: true })
    expect(await fs('getMetadata', { path: uri('link'), followSymlinks: false })).toMatchObject({
      isDirectory: false,
      isSymlink: true,
    })
    expect(await fs('getMetadata', { path: uri('dangling') })).toBe(-32004)
    expect(await fs('canonicalize', { path: uri('link') })).toEqual({ path: uri('sub') })
    expect(await fs('readDirectory', { path: uri() })).toMatchObject({
      entries: expect.toSatisfy(
        (entries: { fileName: string }[]) =>
          entries
            .map(({ fileName }) => fileName)
            .sort()
            .join() === 'a b.txt,link,sub',
      ),
    })
  })

  it('are walked in breadth, with limits that say when they cut', async () => {
    await mkdir(join(folder, 'sub', '.hidden'))
    await writeFile(join(folder, 'sub', 'deep'), '')
    const options = { maxDepth: 9, maxDirectories: 99, maxEntries: 99, followDirectorySymlinks: false }
    const file = (...path: string[]) => ({ path: uri(...path), kind: 'file' })
    const directory = (...path: string[]) => ({ path: uri(...path), kind: 'directory' })
    expect(await fs('walk', { path: uri(), options })).toEqual({
      entries: [file('a b.txt'), directory('sub'), directory('sub', '.hidden'), file('sub', 'deep')],
      errors: [],
      truncated: false,
    })
    expect(
      await fs('walk', { path: uri(), options: { ...options, pruneHiddenDirectories: true, maxEntries: 2 } }),
    ).toEqual({
      entries: [file('a b.txt'), directory('sub')],
      errors: [],
      truncated: true,
    })
    await symlink('..', join(folder, 'sub', 'up'))
    const circle = { ...options, followDirectorySymlinks: true, maxDepth: 1000 }
    expect(await fs('walk', { path: uri(), options: circle })).toMatchObject({ truncated: true })
  })

  it('are copied and removed without following links', async () => {
    await writeFile(join(folder, 'sub', 'deep'), 'deep')
    expect(await fs('copy', { sourcePath: uri('sub'), destinationPath: uri('sub', 'in'), recursive: true })).toBe(
      -32600,
    )
    expect(await fs('copy', { sourcePath: uri('sub'), destinationPath: uri('copy'), recursive: false })).toBe(-32600)
    expect(await fs('copy', { sourcePath: uri('sub'), destinationPath: uri('copy'), recursive: true })).toEqual({})
    expect(await readFile(join(folder, 'copy', 'deep'), 'utf8')).toBe('deep')
    expect(await fs('remove', { path: uri('link') })).toEqual({})
    expect(existsSync(join(folder, 'sub', 'deep'))).toBe(true)
    expect(await fs('remove', { path: uri('sub'), recursive: false })).toBe(-32603)
    expect(await fs('remove', { path: uri('sub') })).toEqual({})
    expect(await fs('remove', { path: uri('sub') })).toEqual({})
    expect(await fs('remove', { path: uri('sub'), force: false })).toBe(-32004)
  })

  it('are made with folders above them', async () => {
    expect(await fs('createDirectory', { path: uri('x', 'y') })).toEqual({})
    expect(await fs('createDirectory', { path: uri('x', 'y') })).toEqual({})
    expect(await fs('createDirectory', { path: uri('x', 'y'), recursive: false })).toBe(-32603)
  })

  it.each([
    ['a native path', { path: '/etc/hostname' }],
    ['another scheme', { path: 'http://x/' }],
    ['another host', { path: 'file://host/etc' }],
    ['a hidden separator', { path: 'file:///etc%2fhostname' }],
    ['a NUL', { path: 'file:///etc%00' }],
    ['no path', {}],
    ['a sandbox', { path: 'file:///', sandbox: {} }],
  ])('are not found by %s', async (_, params) => {
    for (const method of ['readFile', 'getMetadata', 'readDirectory', 'canonicalize', 'remove'])
      expect(await fs(method, params)).toBe(-32602)
  })
})
