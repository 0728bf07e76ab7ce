import { basename } from 'node:path'
import { test } from 'vitest'
import { clientHome } from './client-home.js'
import { startGateway } from './gateway-under-test.js'
import { SERVERS } from './servers.js'

/** `it` with one running gateway a file, and a fresh HOME a test. */
export const it = test
  .extend('servers', { scope: 'file' }, SERVERS)
  .extend('gateway', { scope: 'file' }, async ({ servers }, { onCleanup }) => {
    const gateway = await startGateway(servers)
    onCleanup(() => gateway[Symbol.asyncDispose]())
    return gateway
  })
  .extend('home', async ({ task }, { onCleanup }) => {
    const home = await clientHome(basename(task.file.name).split('.')[0] ?? 'client')
    onCleanup(() => home[Symbol.asyncDispose]())
    return home
  })
