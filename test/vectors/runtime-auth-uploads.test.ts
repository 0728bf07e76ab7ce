import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { takeUpload, uploadsIn } from '../standins/backend-files.js'
import { assertionIds, HUB, schemes, startBackendRuntime } from '../standins/backend-runtime.js'
import { Modes, runnable, titleOf, wantedOf } from './runtime-auth-cases.js'

const Input = z.looseObject({ mode: Modes, fileName: z.string().optional(), fileSize: z.number().optional() })
const Wanted = z.looseObject({
  steps: z.array(
    z.looseObject({
      method: z.string(),
      path: z.string().optional(),
      headers: z.array(z.string()).optional(),
      authorizationScheme: z.string().optional(),
      bodyKeys: z.array(z.string()).optional(),
    }),
  ),
  argumentKeys: z.array(z.string()),
  distinctAssertions: z.number(),
})

describe('a whole upload, of a call of a thread', () => {
  for (const one of runnable('uploads')) {
    const { mode: modes, fileName, fileSize } = Input.parse(one.input)
    if (fileName === undefined || fileSize === undefined) continue
    it(titleOf(one), async () => {
      const wanted = Wanted.parse(wantedOf(one))
      const [mode = 'off'] = modes
      await using world = await startBackendRuntime({ mode })
      const file = join(world.home, fileName)
      writeFileSync(file, 'x'.repeat(fileSize))
      const { model } = world.backend
      takeUpload(model)
      const thread = await world.thread({ fileParameters: [HUB] })
      await thread.callTool({ ...HUB, tool: 'take', arguments: { file } })
      const [call] = world.sent('tools/call')
      if (call === undefined) throw new Error('the call was not sent')
      const sent = [...uploadsIn(model), call]
      expect(sent.map(({ method }) => method)).toEqual(wanted.steps.map(({ method }) => method))
      expect(schemes(sent)).toEqual(wanted.steps.map(({ authorizationScheme: scheme }) => scheme ?? null))
      for (const [index, { path, headers, bodyKeys }] of wanted.steps.entries()) {
        const step = sent[index]
        if (path?.startsWith('/')) expect(step?.path).toBe(path.replace('<id>', 'file-1'))
        if (bodyKeys !== undefined) expect(Object.keys(JSON.parse(step?.body ?? ''))).toEqual(bodyKeys)
        if (headers === undefined) continue
        const names = step?.headers.map(([name]) => name).filter((name) => !['host', 'connection'].includes(name)) ?? []
        // The length is the HTTP library's to say, in a place of its own.
        const isOrdered = (name: string) => name !== 'content-length'
        expect(names.filter(isOrdered)).toEqual(headers.filter(isOrdered))
      }
      const given = JSON.parse(call.body).params.arguments.file
      expect(Object.keys(given)).toEqual(wanted.argumentKeys)
      const ids = assertionIds(sent).filter((id) => id !== undefined)
      expect(new Set(ids).size).toBe(wanted.distinctAssertions)
      expect(model.violations).toEqual([])
    })
  }
})
