import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const shared = { include: [] as string[], testTimeout: 30_000, hookTimeout: 60_000 }

export default defineConfig({
  test: {
    // Most of a test is waiting for processes and sockets: one file at a time would leave two cores idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
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
      {
        test: {
          ...shared,
          name: 'heavy',
          include: ['test/heavy/**/*.test.ts'],
          testTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
