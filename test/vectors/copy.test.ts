import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COPY, deviations, ORIGINAL, vectorCases, vectorFiles } from './cases.js'

const OWN_SHAPE = 'executor-protocol.json'

describe('the copy of the vectors', () => {
  for (const file of vectorFiles(COPY).filter((name) => name.endsWith('.json') && name !== OWN_SHAPE)) {
    it(`gives every case of ${file} a name of its own`, () => {
      const names = vectorCases(file).map(({ name }) => name)
      expect(names.length).toBeGreaterThan(0)
      expect(new Set(names).size).toBe(names.length)
    })
  }

  it('has the case behind every deviation, once', () => {
    const listed = deviations().map(({ file, case: name }) => `${file}: ${name}`)
    expect(new Set(listed).size).toBe(listed.length)
    for (const { file, case: name } of deviations()) {
      expect(vectorCases(file).map((one) => one.name)).toContain(name)
    }
  })

  if (existsSync(ORIGINAL)) {
    it('has the files of the original', () => {
      expect(vectorFiles(COPY)).toEqual(vectorFiles(ORIGINAL))
    })

    for (const file of vectorFiles(ORIGINAL)) {
      it(`equals the original of ${file}`, () => {
        expect(readFileSync(join(COPY, file)).equals(readFileSync(join(ORIGINAL, file)))).toBe(true)
      })
    }
  }
})
