import { expect, vi } from 'vitest'
import type { EraClient } from './clients/client.js'

const READY_MS = 20_000

/** Waits for the servers of these tools: a list does not, and tells what is there. */
export async function untilListed(client: EraClient, tools: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    const listed = JSON.stringify(await client.request('tools/list'))
    for (const tool of tools) expect(listed).toContain(tool)
  }, READY_MS)
}
