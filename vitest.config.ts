import { defineConfig } from 'vitest/config'

const shared = { include: [] as string[], testTimeout: 30_000, hookTimeout: 60_000 }

export default defineConfig({
  test: {
    reporters: ['default', './test/closing-line.ts'],
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/vectors/**/*.test.ts', 'test/conformance/**/*.test.mjs'],
        },
      },
      { test: { ...shared, name: 'e2e', include: ['test/e2e/**/*.test.ts'], testTimeout: 120_000 } },
      {
        test: {
          ...shared,
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          exclude: ['**/*.loop.test.ts'],
          testTimeout: 180_000,
        },
      },
      { test: { ...shared, name: 'loops', include: ['test/clients/**/*.loop.test.ts'], testTimeout: 180_000 } },
      { test: { ...shared, name: 'heavy', include: ['test/heavy/**/*.test.ts'], testTimeout: 300_000 } },
    ],
  },
})
