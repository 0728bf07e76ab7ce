import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openStore } from '../../../src/store/index.js'
import { stdioServer, TempHome } from './temp-home.js'

it('writes what the audit holds before a program that is about to end', async () => {
  using home = new TempHome(stdioServer('echo', 'echo.mjs'))
  await using reeve = await home.open()
  await using thread = await reeve.startThread()
  await thread.callTool({ server: 'echo', tool: 'echo', arguments: { message: 'x' } })
  reeve.killNow()
  using store = openStore(join(home.path, 'state.sqlite'))
  expect(store.audit.query({ limit: 10 })).toMatchObject([{ server: 'echo', tool: 'echo' }])
})
